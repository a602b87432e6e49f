"""Which seats of this host are taken, so that their shares never exceed its cores."""

import threading
from typing import Final

MINIMUM: Final = 5
"""One full table always fits."""


class SlotPool:
    """A fixed number of slots, from 0. Thread-safe.

    Args:
        size: How many bots may run at a time.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._free = set(range(size))
        self._lock = threading.Lock()

    @classmethod
    def for_host(cls, cores: int, cpus: float) -> "SlotPool":
        """Return as many slots as shares of ``cpus`` cores fit, and at least one full table."""
        return cls(max(MINIMUM, int(cores / cpus + 1e-9)))

    def take(self, count: int) -> tuple[int, ...] | None:
        """Take slots, lowest first, or None where not enough are free."""
        with self._lock:
            if len(self._free) < count:
                return None
            taken = tuple(sorted(self._free)[:count])
            self._free.difference_update(taken)
            return taken

    def give_back(self, slots: tuple[int, ...]) -> None:
        """Free slots that were taken."""
        with self._lock:
            self._free.update(slots)
