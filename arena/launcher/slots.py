"""Which seats of this host are taken, so that they never exceed its cores and its memory together."""

import math
import threading
from typing import Final

from arena.launcher.errors import HostTooSmall
from arena.match import Limits

FULL_TABLE: Final = 5
"""So many bots must always fit."""

_STEP: Final = 0.05

_RESERVE_MIB: Final = 384
"""Memory for all that is not a bot: the system, the engine, the arena and its referees."""


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
    def for_host(cls, cores: int, memory_mib: int, limits: Limits) -> "SlotPool":
        """Return as many slots as fit into so many cores and so much memory.

        Args:
            cores: Those that bots may use.
            memory_mib: What the host has, in MiB.
            limits: Wanted for a bot. Its share of the cores is less where a full table would not fit.

        Raises:
            HostTooSmall: There is not memory enough for a full table.
        """
        share = limits.cpus
        if cores < FULL_TABLE * share:
            share = round(math.floor(cores / FULL_TABLE / _STEP + 1e-9) * _STEP, 2)
        # One more than there are slots: the bots' common limit leaves room for a container on its way out.
        in_memory = (memory_mib - _RESERVE_MIB) // limits.memory_mib - 1
        if in_memory < FULL_TABLE:
            least = _RESERVE_MIB + (FULL_TABLE + 1) * limits.memory_mib
            raise HostTooSmall(
                f"a table of {FULL_TABLE} bots with {limits.memory_mib} MiB each takes a machine with "
                f"{least} MiB of memory; this one has {memory_mib} MiB"
            )
        return cls(min(int(cores / share + 1e-9), in_memory), share)

    @property
    def busy(self) -> int:
        """How many slots are taken."""
        with self._lock:
            return self.size - len(self._free)

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
