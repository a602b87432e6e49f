"""What revision 0006 keeps of every game, worked out for the games that had been played before it.

It takes half a millisecond or so a game, once. Nothing here uses the rest of the program, which goes on
changing: this has to stay as it was when the revision was made.
"""

import json
import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import median_low
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

_BATCH: Final = 1000
_DAYS: Final = 7
_KEPT: Final = 5
_SURPRISE: Final = 0.25
_TWO_BETAS: Final = math.sqrt(2) * (25.0 / 3 / 2)

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_game = sa.table(
    "game",
    sa.column("number", _NUMBER),
    sa.column("ended", sa.DateTime(timezone=True)),
    sa.column("record", sa.LargeBinary),
)
_seat = sa.table(
    "game_seat",
    sa.column("game_number", _NUMBER),
    sa.column("seat", sa.Integer),
    sa.column("version_id", _NUMBER),
    sa.column("points", sa.Integer),
    sa.column("place", sa.Integer),
    sa.column("taken_over", sa.Boolean),
    sa.column("median_micros", _NUMBER),
)
_event = sa.table("rating_event", sa.column("number", _NUMBER), sa.column("game_number", _NUMBER))
_change = sa.table(
    "rating_change",
    sa.column("event_number", _NUMBER),
    sa.column("players", sa.Integer),
    sa.column("version_id", _NUMBER),
    sa.column("mean_before", sa.Double),
    sa.column("deviation_before", sa.Double),
    sa.column("mean_after", sa.Double),
    sa.column("deviation_after", sa.Double),
)
_rating = sa.table(
    "rating",
    sa.column("version_id", _NUMBER),
    sa.column("players", sa.Integer),
    sa.column("times", sa.LargeBinary),
    sa.column("closings", sa.LargeBinary),
)
_highlight = sa.table(
    "highlight",
    sa.column("day", _NUMBER),
    sa.column("kind", sa.String),
    sa.column("game_number", _NUMBER),
    sa.column("seat", sa.Integer),
    sa.column("other", sa.Integer),
    sa.column("value", sa.Double),
)


class _Kept(NamedTuple):
    """Of a version in a list."""

    times: list[list[int]]
    closings: list[list[Any]]


def fill(connection: sa.Connection) -> None:
    """Fill the medians of seats, the times and closings of ratings, and the highlights of days."""
    last = connection.execute(sa.select(sa.func.max(_game.c.number))).scalar_one() or 0
    kept: defaultdict[tuple[int, int], _Kept] = defaultdict(lambda: _Kept([], []))
    days: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for first in range(1, last + 1, _BATCH):
        within = (first, min(first + _BATCH - 1, last))
        _fill_medians(connection, within)
        _go_through(connection, within, kept, days)
    if kept:
        connection.execute(
            sa.update(_rating)
            .where(_rating.c.version_id == sa.bindparam("of"), _rating.c.players == sa.bindparam("in_list"))
            .values(times=sa.bindparam("new_times"), closings=sa.bindparam("new_closings")),
            [
                {
                    "of": of,
                    "in_list": players,
                    "new_times": _json(rows.times),
                    "new_closings": _json(rows.closings),
                }
                for (of, players), rows in kept.items()
            ],
        )
    found = [
        dict(zip(_highlight.c.keys(), (day, kind, *each), strict=True))
        for day, games in days.items()
        for kind in ("upset", "points")
        for each in _best([game[1:] for game in games if game[0] == kind], rarest=kind == "upset")
    ]
    if found:
        connection.execute(sa.insert(_highlight), found)


def _fill_medians(connection: sa.Connection, within: tuple[int, int]) -> None:
    records = connection.execute(
        sa.select(_game.c.number, _game.c.record).where(_game.c.number.between(*within))
    )
    rows = [
        {"of": row.number, "at": seat, "median": _median(decisions)}
        for row in records
        for seat, decisions in enumerate(zip(*json.loads(row.record)["steps"], strict=True))
    ]
    connection.execute(
        sa.update(_seat)
        .where(_seat.c.game_number == sa.bindparam("of"), _seat.c.seat == sa.bindparam("at"))
        .values(median_micros=sa.bindparam("median")),
        rows,
    )


def _median(decisions: Sequence[dict[str, Any] | None]) -> int | None:
    millis = [each["millis"] for each in decisions if each is not None and each["millis"] is not None]
    return round(median_low(millis) * 1000) if millis else None


def _go_through(
    connection: sa.Connection,
    within: tuple[int, int],
    kept: defaultdict[tuple[int, int], _Kept],
    days: defaultdict[int, list[tuple[Any, ...]]],
) -> None:
    """Go through what some games did to ratings, in the order of rating."""
    rows = connection.execute(
        sa.select(_change, _seat, _game.c.ended)
        .join_from(_event, _game, _game.c.number == _event.c.game_number)
        .join(_change, _change.c.event_number == _event.c.number)
        .join(_seat, (_seat.c.game_number == _game.c.number) & (_seat.c.version_id == _change.c.version_id))
        .where(_game.c.number.between(*within))
        .order_by(_event.c.number, _seat.c.seat)
    )
    overall: defaultdict[tuple[int, int], list[Any]] = defaultdict(list)
    for row in rows:
        day = _day(row.ended)
        of = kept[row.version_id, row.players]
        if row.median_micros is not None:
            _count(of.times, row.median_micros)
        _close(of.closings, [day, row.mean_after, row.deviation_after])
        if row.players == 0:
            overall[day, row.game_number].append(row)
    for (day, game), seats in overall.items():
        days[day] += _remarkable(game, seats)
        days[day] = [
            (kind, *each)
            for kind in ("upset", "points")
            for each in _best([one[1:] for one in days[day] if one[0] == kind], rarest=kind == "upset")
        ]


def _day(ended: datetime) -> int:
    return (ended if ended.tzinfo is None else ended.astimezone(UTC)).toordinal()


def _count(times: list[list[int]], micros: int) -> None:
    unit: int = 10 ** max(0, len(str(micros)) - 2)
    rounded = (micros + unit // 2) // unit * unit
    at = bisect_left(times, [rounded, 0])
    if at < len(times) and times[at][0] == rounded:
        times[at][1] += 1
    else:
        times.insert(at, [rounded, 1])


def _close(closings: list[list[Any]], closing: list[Any]) -> None:
    if closings and closings[-1][0] >= closing[0]:
        closings[-1][1:] = closing[1:]
        return
    del closings[: max(0, sum(each[0] <= closing[0] - _DAYS for each in closings) - 1)]
    closings.append(closing)


def _remarkable(game: int, seats: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return the upset and the points of a game, as (kind, game, seat, other, value)."""
    own = [row for row in seats if not row.taken_over]
    upsets = [
        (game, one.seat, other.seat, _expected(one, other))
        for one in own
        for other in own
        if one.place < other.place
    ]
    surprising = _best([each for each in upsets if each[3] <= _SURPRISE], rarest=True)
    points = _best([(game, row.seat, None, row.points) for row in own], rarest=False)
    return [("upset", *each) for each in surprising[:1]] + [("points", *each) for each in points[:1]]


def _expected(one: Any, other: Any) -> float:  # noqa: ANN401 - rows of a query
    spread = math.hypot(one.deviation_before, other.deviation_before, _TWO_BETAS)
    return math.erfc((other.mean_before - one.mean_before) / spread / math.sqrt(2)) / 2


def _best(found: list[tuple[Any, ...]], *, rarest: bool) -> list[tuple[Any, ...]]:
    """Return the first few of (game, seat, other, value)."""
    return sorted(found, key=lambda e: (e[3] if rarest else -e[3], e[0], e[1], -1 if e[2] is None else e[2]))[
        :_KEPT
    ]


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
