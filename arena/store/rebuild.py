"""The ratings anew, from the log alone.

Nearly all of the time goes into rating the games. So whoever rebuilds rehearses without the lock: what rates
the games remembers its answers, and under the lock it is asked the same again.

    rate = cache(update)
    rehearse(reading, disqualified(reading), rate)
    rebuild(writing, rate)
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, Table, and_, bindparam, delete, insert, select

from arena.rating import Entry, GamePlayed, Key, Rate, VersionStarted, apply
from arena.store import ladder
from arena.store.ladder import Logged, Row
from arena.store.models import Base, Game, GameSeat, Ladder, Rating, RatingChange, RatingEvent

_BATCH = 1000
"""Events read at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """What a rebuild found.

    Attributes:
        events: Length of the log.
        differing: Rows of ratings and changes that were not what the log says; now they are.
        ratings: How many of these are ratings as they stand: of a version, in a list.
    """

    events: int
    differing: int
    ratings: int


def rehearse(connection: Connection, disqualified: frozenset[int], rate: Rate) -> None:
    """Fold the log as :func:`rebuild` will, and write nothing.

    Args:
        connection: To the store, for reading.
        disqualified: Versions whose games won't count.
        rate: Rates a game, and remembers.
    """
    events = connection.execute(select(Ladder.events)).scalar_one()
    deque(_fold(connection, {}, events, disqualified, rate), maxlen=0)


def rebuild(connection: Connection, rate: Rate) -> Rebuilt:
    """Fold the log from its beginning, compare, and replace what differs.

    Args:
        connection: To the store, for writing.
        rate: Rates a game.
    """
    numbers = ladder.lock(connection)
    entries: dict[Key, Entry] = {}
    changes = 0
    for within, rows in _fold(connection, entries, numbers.events, ladder.disqualified(connection), rate):
        stored = connection.execute(select(RatingChange.__table__).where(within))
        changes += _replace(connection, RatingChange, [row._asdict() for row in stored], rows)
    stored = connection.execute(select(Rating.__table__))
    rows = [ladder.rating_row(key, entry) for key, entry in entries.items()]
    ratings = _replace(connection, Rating, [row._asdict() for row in stored], rows)
    return Rebuilt(events=numbers.events, differing=changes + ratings, ratings=ratings)


def _fold(
    connection: Connection, entries: dict[Key, Entry], events: int, disqualified: frozenset[int], rate: Rate
) -> Iterator[tuple[ColumnElement[bool], list[Row]]]:
    """Fold the log into ``entries``; yield which changes a part of it makes, and what they should be."""
    for first in range(1, events + 1, _BATCH):
        last = min(first + _BATCH - 1, events)
        rows: list[Row] = []
        for logged in _log(connection, first, last):
            counts = ladder.counts(logged.event, disqualified)
            changed = apply(entries, logged.event, rate) if counts else {}
            rows += [
                ladder.change_row(logged.number, key, entries.get(key), entry)
                for key, entry in changed.items()
            ]
            entries |= changed
        yield RatingChange.event_number.between(first, last), rows


def _log(connection: Connection, first: int, last: int) -> list[Logged]:
    """Read the events from ``first`` to ``last``, both included."""
    within = RatingEvent.number.between(first, last)
    seats: dict[int, list[Any]] = {}
    for seat in connection.execute(
        select(GameSeat.__table__)
        .join(RatingEvent, RatingEvent.game_number == GameSeat.game_number)
        .where(within)
        .order_by(GameSeat.game_number, GameSeat.seat)
    ):
        seats.setdefault(seat.game_number, []).append(seat)
    events = connection.execute(
        select(RatingEvent.__table__, Game.ended)
        .outerjoin(Game, Game.number == RatingEvent.game_number)
        .where(within)
        .order_by(RatingEvent.number)
    )
    return [
        Logged(row.number, _game(row.ended, seats[row.game_number]), row.game_number)
        if row.game_number
        else Logged(row.number, VersionStarted(version=row.version_id, previous=row.previous_id))
        for row in events
    ]


def _game(ended: datetime, seats: Sequence[Any]) -> GamePlayed:
    return GamePlayed(
        versions=tuple(seat.version_id for seat in seats),
        places=tuple(seat.place for seat in seats),
        faulty=tuple(ladder.is_faulty(seat.faults, taken_over=seat.taken_over) for seat in seats),
        ended=ended,
    )


def _replace(connection: Connection, model: type[Base], stored: list[Row], right: list[Row]) -> int:
    """Make the stored rows of a table what they should be, and return how many keys differed."""
    table = cast("Table", model.__table__)
    keys = [column.name for column in table.primary_key]
    old = {tuple(row[key] for key in keys): row for row in stored}
    new = {tuple(row[key] for key in keys): row for row in right}
    differing = [key for key in old.keys() | new.keys() if old.get(key) != new.get(key)]
    if gone := [key for key in differing if key in old]:
        same = and_(*(table.c[key] == bindparam(f"of_{key}") for key in keys))
        connection.execute(
            delete(table).where(same),
            [{f"of_{key}": value for key, value in zip(keys, each, strict=True)} for each in gone],
        )
    if come := [new[key] for key in differing if key in new]:
        connection.execute(insert(table), come)
    return len(differing)
