"""The bar chart of the status page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.protocol.status import Hour

_WIDTH: Final = 20
_HEIGHT: Final = 100
_GAP: Final = 4
_ROUND: Final = (1, 2, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """An hour's bar."""

    hour: Hour
    x: int  # left edge
    y: float  # upper edge
    height: float  # large enough to be visible if there were any games


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """A bar chart."""

    bars: tuple[Bar, ...]  # from left to right
    width: int
    height: int
    bar: int  # width of a bar
    top: int  # number of games at full height: 1, 2 or 5 times a power of ten
    games: int  # number of games in all hours
    most: int  # largest number of games in an hour


def bars_of(hours: Sequence[Hour]) -> Bars:
    """Return the bars of these hours."""
    most = max(hour.games for hour in hours)
    top = next(step * 10**power for power in range(20) for step in _ROUND if step * 10**power >= most)
    return Bars(
        bars=tuple(_bar(hour, place, top) for place, hour in enumerate(hours)),
        width=len(hours) * _WIDTH,
        height=_HEIGHT,
        bar=_WIDTH - _GAP,
        top=top,
        games=sum(hour.games for hour in hours),
        most=most,
    )


def _bar(hour: Hour, place: int, top: int) -> Bar:
    height = max(1.0, round(_HEIGHT * hour.games / top, 1)) if hour.games else 0.0
    return Bar(hour=hour, x=place * _WIDTH + _GAP // 2, y=_HEIGHT - height, height=height)
