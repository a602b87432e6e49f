"""Tells matches that can't be played from an arena that can't play."""

from collections.abc import Collection
from typing import Final

VOIDS_IN_A_ROW: Final = 10
"""With so many faults of the arena and no match played between them, it is not the matches."""


class VoidsInARow:
    """Counts the matches that failed for faults of the arena since one was last played."""

    def __init__(self) -> None:
        self._count = 0
        self._in_all: frozenset[str] = frozenset()
        self._workers: frozenset[str] = frozenset()

    @property
    def count(self) -> int:
        """How many."""
        return self._count

    def too_many(self, workers: int) -> bool:
        """Whether the arena has to be mended: not while one bot or worker of several is behind all of them.

        An image that this host's engine can't start, for a reason that nobody knew of, voids the matches of
        its bot. These are put aside one by one; it must not stop everybody else's. What a worker with many
        seats has spoilt, when that is known, is played by others.

        Args:
            workers: How many there are.
        """
        one_of_several = workers > 1 and len(self._workers) == 1
        return self._count >= VOIDS_IN_A_ROW and not (self._in_all or one_of_several)

    def add(self, strangers: Collection[str], worker: str) -> None:
        """Count a match.

        Args:
            strangers: The sources of the bots in it that are not the arena's own.
            worker: Where it failed.
        """
        self._in_all = frozenset(strangers) & (self._in_all if self._count else frozenset(strangers))
        self._workers |= {worker}
        self._count += 1

    def reset(self) -> None:
        """A match has been played."""
        self._count = 0
        self._workers = frozenset()
