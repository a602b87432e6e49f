"""Analyses of rated games, and the daily puzzles made from them. Neither affects any results."""

import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

import msgspec
from sqlalchemy import Connection, Select, delete, exists, insert, select, update

from arena.db import projections
from arena.db.database import Repository, from_row
from arena.db.schema import (
    AnalysisRow,
    BotRow,
    BotVersionRow,
    CostlyDecisionRow,
    GameRow,
    GameSeatRow,
    PuzzleRow,
)
from arena.protocol.analysis import COSTLY, AnalysedDecision, Analysis
from arena.protocol.decoding import prepared

_LATEST_GAMES: Final = 500
"""Number of recent games to consider; older games are analysed only if they are remarkable."""


_MAX_COSTLY_DECISIONS: Final = 200
"""Maximum number of a version's costly decisions to consider, latest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostlyDecision:
    """A decision that cost a bot much of its chance of winning, according to the game's analysis."""

    game: str  # id
    number: int  # of the game
    round: int  # from 1
    turn: int  # in its round, from 1
    seat: int  # from 0
    lost_chance: float
    lost_points: float
    played: tuple[str, ...]  # names of card kinds
    best: tuple[str, ...]  # names of card kinds


def packed(analysis: Analysis) -> bytes:
    """Encode an analysis for storage."""
    return zlib.compress(msgspec.json.encode(analysis))


def unpacked(document: bytes) -> Analysis:
    """Decode a stored analysis."""
    return msgspec.json.decode(zlib.decompress(document), type=prepared(Analysis))


class Analyses(Repository):
    """Analyses of rated games."""

    def next_replay(self, analyst: str, version: int, *, without: Collection[str] = ()) -> str | None:
        """Return the replay of the game to analyse next, as JSON text; None if there is no such game.

        Prefers remarkable games from the last few days to other recent games. Skips games that this version
        of the analyst has already analysed, and games whose ids are in ``without``.
        """
        with self._transactions.read() as connection:
            remarkable = [each.game for each in projections.newest(connection)]
            newest = select(GameRow.number).order_by(GameRow.number.desc()).limit(_LATEST_GAMES)
            known = exists().where(
                AnalysisRow.game_number == GameRow.number,
                AnalysisRow.analyst == analyst,
                AnalysisRow.version == version,
            )
            open_games = (
                select(GameRow.number)
                .where(~known.correlate(GameRow), GameRow.replay != "", GameRow.id.not_in(without))
                .order_by(GameRow.number.desc())
                .limit(1)
            )
            for games in (remarkable, newest):
                number = connection.execute(open_games.where(GameRow.number.in_(games))).scalar_one_or_none()
                if number is not None:
                    replay = select(GameRow.replay).where(GameRow.number == number)
                    return connection.execute(replay).scalar_one()
            return None

    def add(self, analysis: Analysis) -> bool:
        """Store or replace a game's analysis; return False if the game or its replay was removed."""
        with self._transactions.write() as connection:
            game = select(GameRow.number).where(GameRow.id == analysis.game, GameRow.replay != "")
            number = connection.execute(game.with_for_update()).scalar_one_or_none()
            if number is None:
                return False
            remove(connection, [number])
            connection.execute(
                insert(AnalysisRow).values(
                    game_number=number,
                    analyst=analysis.analyst,
                    version=analysis.version,
                    playouts=analysis.playouts,
                    document=packed(analysis),
                )
            )
            if rows := list(_costly_rows(connection, number, analysis)):
                connection.execute(insert(CostlyDecisionRow), rows)
            return True

    def find(self, game: str) -> Analysis | None:
        """Return the analysis of the game with this id; None if the game is unknown or not analysed."""
        with self._transactions.read() as connection:
            document = connection.execute(
                select(AnalysisRow.document)
                .join(GameRow, GameRow.number == AnalysisRow.game_number)
                .where(GameRow.id == game)
            ).scalar_one_or_none()
        return None if document is None else unpacked(document)

    def costly(self, bot: str, version: int) -> tuple[CostlyDecision, ...]:
        """Return a version's latest costly decisions, costliest first.

        The query doesn't slow down as games accumulate.
        """
        with self._transactions.read() as connection:
            newest = (
                select(CostlyDecisionRow.__table__, GameRow.id.label("game"), GameRow.number)
                .join(GameRow, GameRow.number == CostlyDecisionRow.game_number)
                .join(BotVersionRow, BotVersionRow.id == CostlyDecisionRow.version_id)
                .join(BotRow, BotRow.id == BotVersionRow.bot_id)
                .where(BotRow.name == bot, BotVersionRow.number == version)
                .order_by(CostlyDecisionRow.game_number.desc())
                .limit(_MAX_COSTLY_DECISIONS)
            )
            rows = connection.execute(newest).all()
        found = [from_row(CostlyDecision, row) for row in rows]
        return tuple(sorted(found, key=lambda each: (-each.lost_chance, -each.number)))


def remove(connection: Connection, games: Sequence[int] | Select[int]) -> None:
    """Remove the analyses of the games with these numbers."""
    for table in (CostlyDecisionRow, AnalysisRow):
        connection.execute(delete(table).where(table.game_number.in_(games)))


def _costly_rows(connection: Connection, number: int, analysis: Analysis) -> Iterator[dict[str, object]]:
    seats = select(GameSeatRow.seat, GameSeatRow.version_id).where(GameSeatRow.game_number == number)
    versions = {row.seat: row.version_id for row in connection.execute(seats)}
    for decision in analysis.decisions:
        if decision.grade in COSTLY and not decision.standin:
            yield {
                "game_number": number,
                "round": decision.round,
                "turn": decision.turn,
                "seat": decision.seat,
                "version_id": versions[decision.seat],
                "lost_chance": decision.lost_chance,
                "lost_points": decision.lost_points,
                "played": list(decision.options[decision.played].cards),
                "best": list(decision.options[0].cards),
            }


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPuzzle:
    """A puzzle."""

    day: date  # UTC
    game: str  # id
    number: int  # of the game
    replay: str  # of the game, as JSON text (`sushigo-replay/1`)
    decision: AnalysedDecision  # its options include the answer


class Puzzles(Repository):
    """Puzzles of the day, except those whose game no longer has a replay or an analysis."""

    def offer(self, game: str, decision: AnalysedDecision, merit: float, today: date) -> None:
        """Use a decision as today's puzzle if there is none yet, or as tomorrow's if it is the best so far.

        Today's puzzle never changes. ``merit`` is the puzzle's quality. Does nothing if the game was removed.
        """
        with self._transactions.write() as connection:
            number = connection.execute(
                select(GameRow.number).where(GameRow.id == game).with_for_update()
            ).scalar_one_or_none()
            if number is None:
                return
            days = [each.isoformat() for each in (today, today + timedelta(days=1))]
            stored = select(PuzzleRow.day, PuzzleRow.merit).where(PuzzleRow.day.in_(days))
            merits = {row.day: row.merit for row in connection.execute(stored)}
            day = next((each for each in days if each not in merits), days[1])
            values = {
                "game_number": number,
                "round": decision.round,
                "turn": decision.turn,
                "seat": decision.seat,
                "merit": merit,
            }
            if day not in merits:
                connection.execute(insert(PuzzleRow).values(day=day, **values))
            elif merits[day] < merit:
                connection.execute(update(PuzzleRow).where(PuzzleRow.day == day).values(values))

    def newest(self, today: date, limit: int) -> tuple[date, ...]:
        """Return the last ``limit`` days up to today that have a puzzle, latest first."""
        with self._transactions.read() as connection:
            days = (
                select(PuzzleRow.day)
                .join(AnalysisRow, AnalysisRow.game_number == PuzzleRow.game_number)
                .where(PuzzleRow.day <= today.isoformat())
                .order_by(PuzzleRow.day.desc())
                .limit(limit)
            )
            return tuple(map(date.fromisoformat, connection.execute(days).scalars()))

    def find(self, day: date) -> KnownPuzzle | None:
        """Return the puzzle for a day; None if the day has none."""
        with self._transactions.read() as connection:
            row = connection.execute(
                select(PuzzleRow.__table__, GameRow.id.label("game"), GameRow.number, GameRow.replay)
                .add_columns(AnalysisRow.document)
                .join(GameRow, GameRow.number == PuzzleRow.game_number)
                .join(AnalysisRow, AnalysisRow.game_number == PuzzleRow.game_number)
                .where(PuzzleRow.day == day.isoformat(), GameRow.replay != "")
            ).one_or_none()
        if row is None:
            return None
        place = (row.round, row.turn, row.seat)
        decision = next(
            each for each in unpacked(row.document).decisions if (each.round, each.turn, each.seat) == place
        )
        return from_row(KnownPuzzle, row, decision=decision)
