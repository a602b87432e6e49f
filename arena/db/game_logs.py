"""Bots' output and notes from games, and the removal of old logs and replays.

Callers must check that the reader is an owner or an operator.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, and_, bindparam, func, insert, select, text, update

from arena.db import analyses, card_counts, challenges, ladder
from arena.db.database import Repository, from_row
from arena.db.games import RULES
from arena.db.matches import BOT, report_of, seated
from arena.db.projections import RowValues
from arena.db.queue import any_seat
from arena.db.schema import (
    LOGS,
    OPEN_SUBMISSION,
    REPLAYS,
    BotRow,
    BotVersionRow,
    GameRow,
    GameTallyRow,
    MatchRow,
    MatchSeatRow,
    SubmissionRow,
    UnratedGameRow,
)
from arena.protocol.match import GameRecord, MatchSpec, SeatReport, decode, encode
from arena.rules import Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatLog:
    """One seat of a game."""

    seat: int  # from 0
    bot: str
    version: int | None  # number; None for a submission
    account: int | None  # the owner's id; None if no account owns the bot
    report: SeatReport  # on its sandbox during the whole match, with stderr


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredGameLog:
    """A game's log for the owners of its bots."""

    game: str
    match: str
    rules: Rules
    record: GameRecord  # every decision, with the notes; no steps once the replay has been removed
    kept: bool  # whether the logs still exist
    seats: tuple[SeatLog, ...]  # in seat order


_NO_RECORD: Final = GameRecord(seed="0" * 32, steps=())


def _game(table: Any, id_: str) -> Any:  # noqa: ANN401 - one of two tables; an SQLAlchemy statement
    return (
        select(
            table.match_id,
            table.position,
            table.record,
            MatchRow.challenge_number,
            MatchRow.logs,
            MatchRow.spec,
            *RULES,
        )
        .join(MatchRow, MatchRow.id == table.match_id)
        .where(table.id == id_)
    )


def _seats(connection: Connection, match: str, bots: tuple[int, ...]) -> tuple[SeatLog, ...]:
    """Return a game's seats; ``bots`` are the indices of the match's bots in seat order."""
    rows = connection.execute(
        seated(
            MatchSeatRow.report,
            MatchSeatRow.stderr,
            BOT,
            BotVersionRow.number.label("version"),
            func.coalesce(BotRow.account_id, SubmissionRow.account_id).label("account"),
        ).where(MatchSeatRow.match_id == match)
    ).all()
    return tuple(
        from_row(SeatLog, rows[bot], seat=seat, report=report_of(rows[bot])) for seat, bot in enumerate(bots)
    )


class GameLogs(Repository):
    """Bots' output and notes, and the removal of logs and replays after their retention period.

    A removal reads first, then writes in a short transaction.
    """

    def find(self, id_: str) -> StoredGameLog | None:
        """Return the log of a game, rated or not, or None if the id is unknown.

        A challenge's games are found only once all its matches are over.
        """
        with self._transactions.read() as connection:
            row = None
            for table in (GameRow, UnratedGameRow):
                row = row or connection.execute(_game(table, id_)).one_or_none()
            if row is None or challenges.is_open(connection, row.challenge_number):
                return None
            return StoredGameLog(
                game=id_,
                match=row.match_id,
                rules=from_row(Rules, row),
                record=decode(row.record, GameRecord) if row.record else _NO_RECORD,
                kept=row.logs,
                seats=_seats(connection, row.match_id, decode(row.spec, MatchSpec).bots(row.position)),
            )

    def remove_logs(self, before: datetime, limit: int) -> int:
        """Remove bots' stderr and notes, but not their faults, from matches that ended before a time.

        Open submissions' matches keep their stderr and notes for the verdict. Process at most ``limit``
        matches, oldest first, and return their number.
        """
        with self._transactions.read() as connection:
            matches = _expired_matches(connection, LOGS, before, limit)
            stripped = {
                table: _without_notes(connection, table, matches) for table in (GameRow, UnratedGameRow)
            }
        if not matches:
            return 0
        with self._transactions.write() as connection:
            ladder.lock(connection)  # first, as when an account is deleted: another order could deadlock
            left = _remove_stderr(connection, MatchRow.logs, matches)
            for table, records in stripped.items():
                _write(connection, table, [row for match, row in records if match in left])
        return len(matches)

    def remove_replays(self, before: datetime, limit: int) -> int:
        """Remove replays, records, analyses and logs of rated matches that ended before a time.

        Matches of submissions and challenges keep theirs, because nothing else records their outcome.
        Process at most ``limit`` matches, oldest first, and return their number.
        """
        with self._transactions.read() as connection:
            matches = _expired_matches(connection, REPLAYS, before, limit)
            tallies = card_counts.tallies(connection, matches)
        if not matches:
            return 0
        with self._transactions.write() as connection:
            ladder.lock(connection)  # first, as above
            left = _remove_stderr(connection, MatchRow.replays, matches)
            rows = [
                {"game_number": number, "tally": card_counts.packed(tally)}
                for match, number, tally in tallies
                if match in left
            ]
            if rows:
                connection.execute(insert(GameTallyRow), rows)
            removed = select(GameRow.number).where(GameRow.match_id.in_(left))
            analyses.remove(connection, removed)
            connection.execute(
                update(GameRow).where(GameRow.match_id.in_(left)).values(replay="", record=b"")
            )
        return len(matches)


def _expired_matches(connection: Connection, kept: str, before: datetime, limit: int) -> Sequence[str]:
    """Return the matches that ended before a time and meet the condition ``kept``, oldest first."""
    qualifying = any_seat(and_(text(OPEN_SUBMISSION)))
    due = select(MatchRow.id).where(text(kept), MatchRow.ended < before, ~qualifying)
    return connection.execute(due.order_by(MatchRow.ended).limit(limit)).scalars().all()


def _remove_stderr(connection: Connection, kept: Any, matches: Sequence[str]) -> set[str]:  # noqa: ANN401 - a column
    """Clear the matches' flags ``kept`` and ``logs``, and remove their bots' stderr.

    Return the matches whose flag ``kept`` was still set. The others are left unchanged.
    """
    cleared = (
        update(MatchRow)
        # A match may just have been released from quarantine.
        .where(MatchRow.id.in_(matches), kept, MatchRow.ended.is_not(None))
        .values({kept: False, MatchRow.logs: False})
    )
    left = set(connection.execute(cleared.returning(MatchRow.id)).scalars())
    connection.execute(update(MatchSeatRow).where(MatchSeatRow.match_id.in_(left)).values(stderr=None))
    return left


def _without_notes(connection: Connection, table: Any, matches: Sequence[str]) -> list[tuple[str, RowValues]]:  # noqa: ANN401 - one of two tables
    """Return the rows whose records have notes, with the notes removed, each after its match's id."""
    rows = connection.execute(
        select(table.id, table.match_id, table.record).where(table.match_id.in_(matches))
    ).all()
    stripped = ((row, _strip_notes(row.record)) for row in rows if row.record)
    return [
        (row.match_id, {"of_game": row.id, "stripped": record})
        for row, record in stripped
        if record != row.record
    ]


def _strip_notes(record: bytes) -> bytes:
    game = decode(record, GameRecord)
    steps = tuple(
        tuple(None if decision is None else replace(decision, note=None) for decision in step)
        for step in game.steps
    )
    return encode(replace(game, steps=steps))


def _write(connection: Connection, table: Any, rows: list[RowValues]) -> None:  # noqa: ANN401 - one of two tables
    if rows:
        games = update(table).where(table.id == bindparam("of_game"))
        connection.execute(games.values(record=bindparam("stripped")), rows)
