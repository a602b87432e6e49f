"""Which points of a rating's curve are kept, and which are drawn: few, however long it has become.

A point is how a rating stood after so many games. The first points are all kept; whenever there are too
many, every second one goes, and from then on only every second new one comes. So what is kept follows from
the number of games alone.
"""

from collections.abc import Sequence
from typing import Final, TypeVar

MOST: Final = 128
"""Fewer points than these are kept of a curve, and at least half as many once it is as long."""

T = TypeVar("T")


def stride(games: int) -> int:
    """Return n, where after so many games every n-th game's point is kept, from the start on."""
    return 1 << max(0, (games // MOST).bit_length())


def thinned(points: Sequence[T], most: int) -> tuple[T, ...]:
    """Return at most so many of some points: the first, the last, and what lies evenly between them.

    Args:
        points: In their order.
        most: How many, two or more.
    """
    last = len(points) - 1
    if last < most:
        return tuple(points)
    return tuple(points[index * last // (most - 1)] for index in range(most))
