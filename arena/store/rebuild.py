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
from typing import Any

from sqlalchemy import ColumnElement, Connection, select, true

from arena.rating import GamePlayed, Rate, VersionStarted
from arena.store import ladder, revisions
from arena.store.fold import Fold
from arena.store.log import Logged, counted_points
from arena.store.meetings import Meetings, bots_of
from arena.store.models import Game, GameSeat, Ladder, Rating, RatingChange, RatingEvent
from arena.store.rows import Row, replace

_BATCH = 1000
"""Events read at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """What a rebuild found.

    Attributes:
        events: Length of the log.
        differing: Rows of ratings and of what else follows from the log that were not what it says; now they
            are.
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
    fold = Fold(meetings=Meetings(bots_of(connection)))
    deque(_fold(connection, fold, events, disqualified, rate), maxlen=0)


def rebuild(connection: Connection, rate: Rate) -> Rebuilt:
    """Fold the log from its beginning, compare, and replace what differs.

    Args:
        connection: To the store, for writing.
        rate: Rates a game.
    """
    numbers = ladder.lock(connection)
    fold = Fold(meetings=Meetings(bots_of(connection)))
    others = 0
    for within, rows in _fold(connection, fold, numbers.events, ladder.disqualified(connection), rate):
        stored = connection.execute(select(RatingChange.__table__).where(within))
        others += replace(connection, RatingChange, [row._asdict() for row in stored], rows)
    stored = connection.execute(select(Rating.__table__))
    rows = [ladder.rating_row(key, entry) for key, entry in fold.entries.items()]
    ratings = replace(connection, Rating, [row._asdict() for row in stored], rows)
    others += sum(kept.put(connection) for kept in (fold.highlights, fold.points, fold.meetings))
    if ratings + others:
        revisions.changed(connection, true())
    return Rebuilt(events=numbers.events, differing=ratings + others, ratings=ratings)


def _fold(
    connection: Connection, fold: Fold, events: int, disqualified: frozenset[int], rate: Rate
) -> Iterator[tuple[ColumnElement[bool], list[Row]]]:
    """Fold the log into ``fold``; yield which changes a part of it makes, and what they should be."""
    for first in range(1, events + 1, _BATCH):
        last = min(first + _BATCH - 1, events)
        log = _log(connection, first, last)
        rows = [row for logged in log for row in fold.note(logged, disqualified, rate)]
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
        _game(row, seats[row.game_number])
        if row.game_number
        else Logged(row.number, VersionStarted(version=row.version_id, previous=row.previous_id))
        for row in events
    ]


def _game(row: Any, seats: Sequence[Any]) -> Logged:  # noqa: ANN401 - rows of queries
    played = GamePlayed(
        versions=tuple(seat.version_id for seat in seats),
        places=tuple(seat.place for seat in seats),
        faulty=tuple(ladder.is_faulty(seat.faults, taken_over=seat.taken_over) for seat in seats),
        times=tuple(seat.median_micros for seat in seats),
        ended=row.ended,
    )
    points = counted_points([seat.points for seat in seats], [seat.taken_over for seat in seats])
    return Logged(row.number, played, row.game_number, points)
