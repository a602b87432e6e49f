"""Games per hour as bars: where each begins and how high it is, in the units of a drawing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from web.status.facts import Hour

_WIDTH: Final = 20
_HEIGHT: Final = 100
_GAP: Final = 4
_ROUND: Final = (1, 2, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """An hour.

    Attributes:
        hour: Which.
        x: Of its left edge.
        y: Of its upper edge.
        height: From the ground up; what is not nothing can be seen.
    """

    hour: Hour
    x: int
    y: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """All of them.

    Attributes:
        bars: From left to right.
        width: Of the drawing.
        height: Of the drawing.
        bar: Width of a bar.
        top: So many games are as high as the drawing: 1, 2 or 5 and zeros.
        games: All together.
        most: In an hour.
    """

    bars: tuple[Bar, ...]
    width: int
    height: int
    bar: int
    top: int
    games: int
    most: int


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
