"""The ratings anew, from the log alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Connection, Table, and_, bindparam, delete, insert, select

from arena.rating import Entry, GamePlayed, Key, VersionStarted, apply
from arena.store import ladder
from arena.store.ladder import Logged, Row
from arena.store.models import Base, Game, GameSeat, Rating, RatingChange, RatingEvent

_BATCH = 1000
"""Events read at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """What a rebuild found.

    Attributes:
        events: Length of the log.
        differing: Rows of ratings and changes that were not what the log says; now they are.
    """

    events: int
    differing: int


def rebuild(connection: Connection) -> Rebuilt:
    """Fold the log from its beginning, compare, and replace what differs."""
    numbers = ladder.lock(connection)
    barred = ladder.disqualified(connection)
    entries: dict[Key, Entry] = {}
    differing = 0
    for first in range(1, numbers.events + 1, _BATCH):
        last = min(first + _BATCH - 1, numbers.events)
        rows: list[Row] = []
        for logged in _log(connection, first, last):
            changed = apply(entries, logged.event) if ladder.counts(logged.event, barred) else {}
            rows += [
                ladder.change_row(logged.number, key, entries.get(key), entry)
                for key, entry in changed.items()
            ]
            entries |= changed
        within = RatingChange.event_number.between(first, last)
        stored = connection.execute(select(RatingChange.__table__).where(within))
        differing += _replace(connection, RatingChange, [row._asdict() for row in stored], rows)
    stored = connection.execute(select(Rating.__table__))
    rows = [ladder.rating_row(key, entry) for key, entry in entries.items()]
    differing += _replace(connection, Rating, [row._asdict() for row in stored], rows)
    return Rebuilt(events=numbers.events, differing=differing)


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
