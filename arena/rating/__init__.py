"""TrueSkill ratings, pure: one step of a free-for-all, the fold of a whole log, what ratings say of ranks.

    after = update((initial(), initial(), initial()), places=(1, 3, 2))

The store keeps what :func:`apply` returns; :func:`rebuild` gives exactly the
same from the log alone.
"""

from arena.rating.closings import DAYS, Closing, Closings, stood
from arena.rating.curve import stride, thinned
from arena.rating.ranks import SHARE, Field, between
from arena.rating.standings import (
    LISTS,
    OVERALL,
    Entry,
    Event,
    GamePlayed,
    Key,
    Rate,
    VersionStarted,
    apply,
    rebuild,
)
from arena.rating.step import Rating, conservative, expected, initial, next_version, update
from arena.rating.times import Times, game_time, median

__all__ = [
    "DAYS",
    "LISTS",
    "OVERALL",
    "SHARE",
    "Closing",
    "Closings",
    "Entry",
    "Event",
    "Field",
    "GamePlayed",
    "Key",
    "Rate",
    "Rating",
    "Times",
    "VersionStarted",
    "apply",
    "between",
    "conservative",
    "expected",
    "game_time",
    "initial",
    "median",
    "next_version",
    "rebuild",
    "stood",
    "stride",
    "thinned",
    "update",
]
