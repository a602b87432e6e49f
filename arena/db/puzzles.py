"""Puzzles of the day: a decision of a rated game for each day."""

from dataclasses import dataclass
from datetime import date, timedelta

from sqlalchemy import insert, select, update

from arena.db.analyses import unpacked
from arena.db.database import Repository, from_row
from arena.db.schema import AnalysisRow, GameRow, PuzzleRow
from arena.protocol.analysis import AnalysedDecision


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPuzzle:
    """A puzzle."""

    day: date  # UTC
    game: str  # id
    number: int  # of the game
    replay: str  # of the game, as JSON text (`sushigo-replay/1`)
    made: AnalysedDecision  # whose options are the answer


class Puzzles(Repository):
    """Puzzles of the day, without those whose game has lost its replay or analysis."""

    def offer(self, game: str, made: AnalysedDecision, merit: float, today: date) -> None:
        """Use a decision as today's puzzle if today has none, or as tomorrow's if it is the best so far.

        Today's puzzle never changes. ``merit`` is the puzzle's quality. No effect if the game was removed.
        """
        with self._transactions.write() as connection:
            number = connection.execute(
                select(GameRow.number).where(GameRow.id == game).with_for_update()
            ).scalar_one_or_none()
            if number is None:
                return
            days = {"today": today.isoformat(), "tomorrow": (today + timedelta(days=1)).isoformat()}
            stored = select(PuzzleRow.day, PuzzleRow.merit).where(PuzzleRow.day.in_(days.values()))
            merits = {row.day: row.merit for row in connection.execute(stored)}
            values = {
                "game_number": number,
                "round": made.round,
                "turn": made.turn,
                "seat": made.seat,
                "merit": merit,
            }
            if days["today"] not in merits:
                connection.execute(insert(PuzzleRow).values(day=days["today"], **values))
            elif days["tomorrow"] not in merits:
                connection.execute(insert(PuzzleRow).values(day=days["tomorrow"], **values))
            elif merits[days["tomorrow"]] < merit:
                connection.execute(update(PuzzleRow).where(PuzzleRow.day == days["tomorrow"]).values(values))

    def newest(self, today: date, limit: int) -> tuple[date, ...]:
        """Return the days up to today that have a puzzle, the newest first."""
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
        """Return the puzzle of a day, or None."""
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
        made = next(
            each for each in unpacked(row.document).decisions if (each.round, each.turn, each.seat) == place
        )
        return from_row(KnownPuzzle, row, made=made)
