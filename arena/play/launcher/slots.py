"""This host's slots, whose number depends on its cores and memory, and the sweep of leftover sandboxes."""

import math
import threading
from collections.abc import Callable, Iterable
from typing import Final

import structlog

from arena.platform.periodic import PeriodicTask
from arena.play.launcher import HostTooSmall
from arena.protocol.match import Limits
from arena.sandbox.runtime import Runtime, RuntimeFailure, SandboxesLeft

FULL_TABLE: Final = 5
"""Number of bots that every host must be able to run."""

_SHARE_STEP: Final = 0.05

RESERVE_MIB: Final = 384
"""Memory for everything except bots: the system, the engine, the arena and its referees."""


class SlotPool:
    """A fixed number of slots, numbered from ``first``. Thread-safe.

    ``size`` bots may run at a time. Each may use at most ``share`` cores, even if its match specifies more.
    """

    def __init__(self, size: int, share: float, first: int = 0) -> None:
        self.size = size
        self.share = share
        self.usable = size  # lower while the host has other work; reserved slots stay reserved
        self._free = set(range(first, first + size))
        # By slot, the name of the sandbox that may still exist:
        self._kept: dict[int, str] = {}  # of reserved slots, which stay in use after their release
        self._unswept: dict[int, str] = {}  # of slots that were kept and then released
        self._lock = threading.RLock()

    @classmethod
    def for_host(cls, cores: int, memory_mib: int, limits: Limits) -> "SlotPool":
        """Return a pool of as many slots as the given cores and memory allow.

        ``cores`` is the number of cores that bots may use. Each bot's share is reduced if a full table
        wouldn't fit otherwise. Raises HostTooSmall.
        """
        share = limits.cpus
        if cores < FULL_TABLE * share:
            share = round(math.floor(cores / FULL_TABLE / _SHARE_STEP + 1e-9) * _SHARE_STEP, 2)
        # One slot fewer than memory allows: the shared limit also counts a container that is being removed.
        by_memory = (memory_mib - RESERVE_MIB) // limits.memory_mib - 1
        if by_memory < FULL_TABLE:
            required_mib = RESERVE_MIB + (FULL_TABLE + 1) * limits.memory_mib
            raise HostTooSmall(
                f"a table of {FULL_TABLE} bots with {limits.memory_mib} MiB each requires a host with "
                f"{required_mib} MiB of memory; this one has {memory_mib} MiB"
            )
        return cls(min(int(cores / share + 1e-9), by_memory), share)

    @property
    def busy(self) -> int:
        """Number of slots in use, including those of sandboxes that could not be removed."""
        with self._lock:
            return self.size - len(self._free)

    @property
    def reserved(self) -> int:
        """Number of slots reserved for matches."""
        with self._lock:
            return self.size - len(self._free) - len(self._unswept)

    def reserve(self, count: int, *, already_sent: bool = False) -> tuple[int, ...] | None:
        """Reserve slots, lowest first. Return None if not enough are free and usable.

        Unless ``usable`` is 0, a match of any size may run if no other match is running. If
        ``already_sent`` is True, which means that this host already has the match, ``usable`` is ignored.
        """
        with self._lock:
            reserved = self.reserved
            limit = self.size if already_sent else self.usable
            if len(self._free) < count or not limit or (reserved and reserved + count > limit):
                return None
            taken = tuple(sorted(self._free)[:count])
            self._free.difference_update(taken)
            return taken

    def keep(self, slot: int, sandbox: str) -> None:
        """Keep a reserved slot in use after its release, because the sandbox with this name may still exist.

        The slot's next bot runs as the same user, so it could reach what the last one left behind.
        """
        with self._lock:
            self._kept[slot] = sandbox

    def release(self, slots: tuple[int, ...]) -> None:
        """Free slots. Those that were kept stay in use until a sweep has removed their sandboxes."""
        with self._lock:
            for slot in slots:
                if slot in self._kept:
                    self._unswept[slot] = self._kept.pop(slot)
                else:
                    self._free.add(slot)

    def unswept(self) -> dict[int, str]:
        """Return the names of the sandboxes that slots were kept for, by slot, after the slots' release."""
        with self._lock:
            return dict(self._unswept)

    def free_swept(self, slots: Iterable[int]) -> None:
        """Free slots that were kept, because their sandboxes no longer exist."""
        with self._lock:
            for slot in slots:
                del self._unswept[slot]
                self._free.add(slot)


_log = structlog.get_logger()

SWEEP_SECONDS: Final = 20.0
"""Interval between sweeps. Leftovers are gone within half a minute, including the time to remove them."""


def sweeper(
    runtime: Runtime,
    install: str,
    owns: Callable[[str], bool],
    *pools: SlotPool,
    seconds: float = SWEEP_SECONDS,
) -> PeriodicTask:
    """Return a task that removes leftover sandboxes, and then frees the slots kept for them in ``pools``.

    ``owns`` returns True for sandboxes of running matches. A launcher removes its own sandboxes. The sweep
    removes those that the launcher couldn't remove because the engine was busy or down, and those created by
    a call whose response was lost.
    """

    def sweep() -> None:
        kept = [(pool, pool.unswept()) for pool in pools]
        left: frozenset[str] = frozenset()
        try:
            if swept := runtime.sweep(install, owns):
                _log.warning("orphaned sandboxes removed", sandboxes=swept)
        except SandboxesLeft as error:
            left = error.names
            _log.warning("orphaned sandboxes not removed", sandboxes=sorted(left), error=str(error))
        for pool, sandboxes in kept:
            pool.free_swept(slot for slot, name in sandboxes.items() if name not in left)

    return PeriodicTask(sweep, name="sweeper", seconds=seconds, expected=(RuntimeFailure,))
