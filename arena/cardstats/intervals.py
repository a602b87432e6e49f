"""Shares of games won, and how far they are to be trusted. Everything at 95 %.

Decisions of one seat in one game are won or lost together, so ten of them say as much as one. Intervals go by
an effective number (Kish's): the square of all decisions' number by the sum of the squares of each seat's.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Final

from arena.cardstats.counts import WIN

_Z: Final = 1.959964
"""A normal variable is within so many deviations nineteen times out of twenty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number and its interval.

    Attributes:
        value: The number.
        low: The lower end.
        high: The upper end.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WinRate(Estimate):
    """A share of games won, from 0 to 1, with Wilson's score interval.

    Attributes:
        effective: As how many independent games the decisions count.
    """

    effective: float


def win_rate(won: int, times: int, squares: int) -> WinRate | None:
    """Return the share of decisions whose game was won, or None without a decision.

    Args:
        won: In 1 / ``WIN``, one for each decision.
        times: Decisions.
        squares: For each seat of each game its number of them, squared, and added up.
    """
    if not times:
        return None
    rate = won / WIN / times
    effective = times * times / squares
    low, high = _wilson(rate, effective)
    return WinRate(value=rate, low=low, high=high, effective=effective)


def difference(one: WinRate, other: WinRate) -> Estimate:
    """Return how much higher one rate is than another, with Newcombe's hybrid score interval."""
    value = one.value - other.value
    return Estimate(
        value=value,
        low=value - sqrt((one.value - one.low) ** 2 + (other.high - other.value) ** 2),
        high=value + sqrt((one.high - one.value) ** 2 + (other.value - other.low) ** 2),
    )


def _wilson(rate: float, number: float) -> tuple[float, float]:
    square = _Z * _Z
    middle = rate + square / (2 * number)
    half = _Z * sqrt(rate * (1 - rate) / number + square / (4 * number * number))
    whole = 1 + square / number
    # A rate of 0 or 1 is an end of its own interval, which arithmetic misses by a hair.
    return max(0.0, min((middle - half) / whole, rate)), min(1.0, max((middle + half) / whole, rate))
