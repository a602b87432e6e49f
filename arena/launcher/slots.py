"""Which seats of this host are taken, so that their shares never exceed its cores."""

import math
import threading
from typing import Final

FULL_TABLE: Final = 5
"""So many bots must always fit."""

_STEP: Final = 0.05


class SlotPool:
    """A fixed number of slots, from 0. Thread-safe.

    Args:
        size: How many bots may run at a time.
        share: Of the host's cores, for each; no bot gets more, whatever its match was to give it.
    """

    def __init__(self, size: int, share: float) -> None:
        self.size = size
        self.share = share
        self._free = set(range(size))
        self._lock = threading.Lock()

    @classmethod
    def for_host(cls, cores: int, cpus: float) -> "SlotPool":
        """Return as many slots as shares fit into so many cores.

        Args:
            cores: Those that bots may use.
            cpus: The share wanted for a bot, in cores. It is less where a full table would not fit.
        """
        share = cpus
        if cores < FULL_TABLE * cpus:
            share = round(math.floor(cores / FULL_TABLE / _STEP + 1e-9) * _STEP, 2)
        return cls(int(cores / share + 1e-9), share)

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
