"""How a rating stood at the end of a day, for as long as somebody may ask how it has changed since.

Days are those of UTC, as :meth:`datetime.date.toordinal` counts them. A change over seven days is one since
the end of the seventh day before today.
"""

from typing import NamedTuple

from arena.rating.step import Rating

DAYS = 7
"""Over how many days changes are told: today, and the six before it."""


class Closing(NamedTuple):
    """A rating at the end of a day, or now, where the day is not over.

    Attributes:
        day: Its number.
        mean: μ.
        deviation: σ.
    """

    day: int
    mean: float
    deviation: float


Closings = tuple[Closing, ...]
"""Of days on which there was a game, rising: those that may still be asked for, and the last one before."""


def close(closings: Closings, day: int, rating: Rating) -> Closings:
    """Return closings after a game.

    Args:
        closings: Before it.
        day: On which it ended. Where it is before the last one, it counts for the last one.
        rating: After it.
    """
    if closings and closings[-1].day >= day:
        return (*closings[:-1], Closing(closings[-1].day, rating.mean, rating.deviation))
    old = [each.day <= day - DAYS for each in closings]
    kept = closings[max(0, sum(old) - 1) :]
    return (*kept, Closing(day, rating.mean, rating.deviation))


def stood(closings: Closings, day: int) -> Rating | None:
    """Return the rating at the end of a day; None where there had been no game by then.

    Args:
        closings: Of the rating.
        day: Not earlier than ``DAYS`` before the last game.
    """
    for each in reversed(closings):
        if each.day <= day:
            return Rating(each.mean, each.deviation)
    return None
