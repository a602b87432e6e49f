"""Logs and replays of matches that ended long ago, removed a few at a time.

Nothing that follows from games goes with them: results, the ladder's log and ratings are rows of their own,
and what the statistics of cards count of a game is kept in place of its replay.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, bindparam, exists, insert, select, text, update

from arena.match import GameRecord, decode, encode
from arena.store import card_counts
from arena.store.card_models import GameTally
from arena.store.database import Database
from arena.store.models import LOGS, REPLAYS, Game, Match, MatchSeat
from arena.store.submission_models import ON_ITS_WAY, Submission, UnratedGame


class Retention:
    """Removes what is kept for a time only. Each call is one short transaction after a longer look.

    Args:
        database: The store's.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def remove_logs(self, before: datetime, limit: int) -> int:
        """Remove what bots wrote to stderr and noted, but not what was wrong with their moves.

        Matches of submissions on their way keep theirs: the judgement needs them.

        Args:
            before: Of matches that ended before.
            limit: Of so many at most, those that ended first.

        Returns:
            Of how many.
        """
        with self._database.read() as connection:
            matches = _due(connection, LOGS, before, limit)
            quiet = {table: _without_notes(connection, table, matches) for table in (Game, UnratedGame)}
        if not matches:
            return 0
        with self._database.write() as connection:
            left = _take(connection, Match.logs, matches)
            connection.execute(update(MatchSeat).where(MatchSeat.match_id.in_(left)).values(stderr=None))
            for table, records in quiet.items():
                _write(connection, table, [row for row in records if row["of_match"] in left])
        return len(matches)

    def remove_replays(self, before: datetime, limit: int) -> int:
        """Remove replays and records of rated games, and the logs of these matches.

        Those of submissions and challenges stay: nothing else tells what came of them.

        Args:
            before: Of matches that ended before.
            limit: Of so many at most, those that ended first.

        Returns:
            Of how many.
        """
        with self._database.read() as connection:
            matches = _due(connection, REPLAYS, before, limit)
            tallies = card_counts.tallies(connection, matches)
        if not matches:
            return 0
        with self._database.write() as connection:
            left = _take(connection, Match.replays, matches)
            rows = [
                {"game_number": number, "tally": card_counts.packed(tally)}
                for match, number, tally in tallies
                if match in left
            ]
            if rows:
                connection.execute(insert(GameTally), rows)
            connection.execute(update(Game).where(Game.match_id.in_(left)).values(replay="", record=b""))
            connection.execute(update(MatchSeat).where(MatchSeat.match_id.in_(left)).values(stderr=None))
            connection.execute(update(Match).where(Match.id.in_(left)).values(logs=False))
        return len(matches)


def _due(connection: Connection, kept: str, before: datetime, limit: int) -> Sequence[str]:
    """Return the matches that still have something and ended before, the first ones first."""
    on_its_way = (
        exists()
        .where(MatchSeat.match_id == Match.id)
        .where(Submission.number == MatchSeat.submission_number, text(ON_ITS_WAY))
        .correlate(Match)
    )
    due = select(Match.id).where(text(kept), Match.ended < before, ~on_its_way)
    return connection.execute(due.order_by(Match.ended).limit(limit)).scalars().all()


def _take(connection: Connection, kept: Any, matches: Sequence[str]) -> set[str]:  # noqa: ANN401 - a column
    """Note that these matches have it no more; return those of which nobody else has removed it meanwhile."""
    taken = update(Match).where(Match.id.in_(matches), kept).values({kept: False}).returning(Match.id)
    return set(connection.execute(taken).scalars())


def _without_notes(connection: Connection, table: Any, matches: Sequence[str]) -> list[dict[str, Any]]:  # noqa: ANN401 - one of two tables
    """Return the records of games without the notes in them, of those that have some."""
    rows = connection.execute(
        select(table.id, table.match_id, table.record).where(table.match_id.in_(matches))
    ).all()
    quiet = ((row, _quiet(row.record)) for row in rows if row.record)
    return [
        {"of_game": row.id, "of_match": row.match_id, "quiet": record}
        for row, record in quiet
        if record != row.record
    ]


def _quiet(record: bytes) -> bytes:
    game = decode(record, GameRecord)
    steps = tuple(
        tuple(None if decision is None else replace(decision, note=None) for decision in step)
        for step in game.steps
    )
    return encode(replace(game, steps=steps))


def _write(connection: Connection, model: Any, records: Iterable[dict[str, Any]]) -> None:  # noqa: ANN401 - one of two tables
    table: Table = model.__table__
    if rows := [{"of_game": each["of_game"], "quiet": each["quiet"]} for each in records]:
        connection.execute(
            update(table).where(table.c.id == bindparam("of_game")).values(record=bindparam("quiet")), rows
        )
