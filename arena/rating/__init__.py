"""TrueSkill ratings, pure: one step of a free-for-all, and the fold of a whole log.

    after = update((initial(), initial(), initial()), places=(1, 3, 2))

The store keeps what :func:`apply` returns; :func:`rebuild` gives exactly the
same from the log alone.
"""

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
from arena.rating.step import Rating, conservative, initial, next_version, update

__all__ = [
    "LISTS",
    "OVERALL",
    "Entry",
    "Event",
    "GamePlayed",
    "Key",
    "Rate",
    "Rating",
    "VersionStarted",
    "apply",
    "conservative",
    "initial",
    "next_version",
    "rebuild",
    "update",
]
