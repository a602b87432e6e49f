"""A look at all that an arena needs at every step: rows that this program can't read make no arena."""

from datetime import datetime

from sqlalchemy import Connection, func, select, text
from sqlalchemy.orm import InstrumentedAttribute

from arena.match import MatchSpec, decode
from arena.rating import LISTS
from arena.store import activity, boards, card_counts, hosts, quarantine, queue, submissions, workload
from arena.store.models import OPEN, Game, Ladder, Match, RatingEvent


def read_through(connection: Connection, at: datetime) -> None:
    """Read what every page and every match needs, and none of what there is more of with each game.

    Args:
        connection: To a database with the newest tables.
        at: UTC.

    Raises:
        ValueError: The ladder's numbers are not those of its log, or a match is not what it should be.
        Exception: Of any kind, where a row is not such as this program writes.
    """
    ladder = connection.execute(select(Ladder.events, Ladder.games)).one_or_none()
    if ladder != (_numbered(connection, RatingEvent.number), _numbered(connection, Game.number)):
        raise ValueError("the ladder's numbers are not those of its log")
    for players in LISTS:
        boards.leaderboard(connection, players)
    activity.read(connection, at)
    workload.read(connection, at, 24)
    card_counts.find(connection, None)
    hosts.hosts(connection)
    submissions.on_their_way(connection)
    quarantine.listed(connection)
    for match in connection.execute(select(Match.id, Match.spec).where(text(OPEN))).all():
        spec = decode(match.spec, MatchSpec)
        if (spec.match, len(spec.seats)) != (match.id, len(queue.claimed_seats(connection, match.id))):
            raise ValueError(f"match {match.id} is not the one of its specification")


def _numbered(connection: Connection, number: InstrumentedAttribute[int]) -> int | None:
    """Return how many rows there are, None where they aren't numbered from 1 without gaps."""
    first, last = func.coalesce(func.min(number), 1), func.coalesce(func.max(number), 0)
    found = connection.execute(select(first, last, func.count(number))).one()
    return found[2] if found[:2] == (1, found[2]) else None
