"""How long decisions take: of a game the time in the middle, of many games the one in the middle of these.

Of each game one time a seat is kept, and of many games how often each time came up, with two significant
digits. So a few dozen numbers stand for all that was ever played, and their median is the true one of the
games' times, rounded: it is within five per cent of it.
"""

from bisect import bisect_left
from collections.abc import Iterable
from statistics import median_low

Times = tuple[tuple[int, int], ...]
"""Times in microseconds, rising, each with the number of games that had it."""

_MICROS = 1000
_DIGITS = 2


def game_time(millis: Iterable[float | None]) -> int | None:
    """Return the median of one seat's decisions in a game, in whole microseconds.

    Args:
        millis: Of each decision, None where no answer came in time; these don't count.

    Returns:
        The lower one of the two in the middle, where there are two; None without an answer.
    """
    answered = [each for each in millis if each is not None]
    return round(median_low(answered) * _MICROS) if answered else None


def add(times: Times, micros: int) -> Times:
    """Return times with those of one more game."""
    rounded = _rounded(micros)
    at = bisect_left(times, (rounded, 0))
    if at < len(times) and times[at][0] == rounded:
        return (*times[:at], (rounded, times[at][1] + 1), *times[at + 1 :])
    return (*times[:at], (rounded, 1), *times[at:])


def median(times: Times) -> int | None:
    """Return the median in microseconds, the lower one of two; None where there are no times."""
    before = (sum(games for _, games in times) + 1) // 2
    for micros, games in times:
        before -= games
        if before <= 0:
            return micros
    return None


def _rounded(micros: int) -> int:
    """Return a time with two significant digits, halves up."""
    unit: int = 10 ** max(0, len(str(micros)) - _DIGITS)
    return (micros + unit // 2) // unit * unit
