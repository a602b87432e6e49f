"""The workers that play a coordinator's matches: the interface, and this host as the only worker."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from enum import Enum
from typing import Final, Protocol

import structlog

from arena.platform.cpu_time import OwnWaits
from arena.platform.environment import reach
from arena.platform.recurring import Backoff, Recurring
from arena.play.launcher import HostFailed, LauncherError
from arena.play.launcher.launcher import Launcher
from arena.play.launcher.slots import SlotPool
from arena.protocol.match import WorkerStatus
from arena.protocol.status import RefusedWorker

_log = structlog.get_logger()


class WorkerLost(LauncherError):
    """A worker disappeared during a match; the message names it."""


class Verdict(Enum):
    """A coordinator's verdict on a worker after a match."""

    VALID = "valid"
    """The record passed its checks."""

    FAILED = "failed"
    """The match failed on the worker, or its record failed the checks."""

    LOST = "lost"
    """No record came back in time."""


class Place(Protocol):
    """Capacity reserved at a worker for one match."""

    @property
    def worker(self) -> str:
        """The worker's name."""

    @property
    def seats(self) -> int:
        """The number of bots for which there is capacity."""

    @property
    def cpus(self) -> float:
        """The cores that each bot may use."""

    def play(self, spec: bytes, progress: Callable[[bytes], None]) -> Future[bytes]:
        """Play a match; call this once. The place is released when the future is done.

        Takes an encoded :class:`arena.protocol.match.MatchSpec` and returns a
        :class:`arena.protocol.match.MatchRecord`. Until the future is done, ``progress`` receives
        :class:`arena.protocol.match.Progress` messages from any thread; each includes the game so far, so any
        of them may be lost. The future may fail with MatchVoid (HostFailed if the worker can't play at all),
        WorkerLost or LauncherStopped.
        """

    def judge(self, verdict: Verdict) -> None:
        """Report the checked outcome of a match; call this once for each match, except at shutdown."""

    def give_back(self) -> None:
        """Release the place without playing."""


class Workers(Protocol):
    """The workers that play matches. Thread-safe."""

    def take(self, seats: int) -> Place | None:
        """Reserve seats for a match, or return None if no worker has that many free."""

    def status(self) -> tuple[WorkerStatus, ...]:
        """Return the status of each worker."""

    def refused(self) -> tuple[RefusedWorker, ...]:
        """Return the workers that get no matches, sorted by name."""

    def stop(self) -> None:
        """Abort all matches and start no more."""


_SENTINEL_SECONDS: Final = 1.0
"""Interval between load measurements."""

_WORK_SECONDS: Final = 0.008
"""Processor time of a measurement in seconds: more than one time slice, and less than 1% of a core."""

_SMOOTH: Final = 0.2
"""Weight of the latest measurement; the average covers several seconds."""

_SHUT: Final = 0.05
_OPEN: Final = 0.08
"""Shares of a core. If the measured share falls below the first, no match starts until it has reached the
second, or a minute has passed in which no seat was in use."""

_RISE: Final = 0.8
"""More seats open only if this fraction of the measured share suffices, to keep their number stable."""

PATIENCE_SECONDS: Final = 60.0
"""An overloaded host waits this long, then starts a match anyway: bots' clocks exclude the host's delays."""


class Opening:
    """Decides how many of ``size`` seats are usable, each needing a ``share`` of a core. Does no I/O."""

    def __init__(self, size: int, share: float) -> None:
        self._size = size
        self._share = share
        self._shut_since: float | None = None
        self.given = 1.0
        self.seats = size

    def look(self, given: float, busy: int, now: float) -> int:
        """Return the usable seats: 0 while the host is overloaded, otherwise at least 1.

        If the host stays overloaded for ``PATIENCE_SECONDS`` with no seat in use, 1 is returned.

        One usable seat is enough to start a match of any size. ``given`` is the share of a core that a busy
        thread got, ``busy`` the seats in use, ``now`` monotonic seconds.
        """
        self.given += (given - self.given) * _SMOOTH
        if self.given < (_SHUT if self._shut_since is None else _OPEN):
            if self._shut_since is None or busy:
                self._shut_since = now
            self.seats = int(now - self._shut_since >= PATIENCE_SECONDS)
            return self.seats
        self._shut_since = None
        falls, rises = self._worth(self.given), self._worth(self.given * _RISE)
        if falls < self.seats:
            self.seats = falls
        elif rises > self.seats:
            self.seats = rises
        return self.seats

    def _worth(self, given: float) -> int:
        return max(1, min(self._size, int(self._size * given / self._share)))


class Sentinel:
    """Measures the host's load and sets the number of usable slots."""

    def __init__(self, slots: SlotPool) -> None:
        self._slots = slots
        self._opening = Opening(slots.size, slots.share)
        self._waits: OwnWaits | None = None

    def look(self) -> None:
        """Spin briefly, measure the share of a core received, and set the usable slots. Not thread-safe."""
        if self._waits is None:
            self._waits = OwnWaits()  # of the calling thread
        before, begun = self._waits(), time.thread_time()
        while (worked := time.thread_time() - begun) < _WORK_SECONDS:
            pass
        given = worked / (worked + self._waits() - before)
        usable = self._opening.look(given, self._slots.busy, time.monotonic())
        if usable != self._slots.usable:
            _log.info("usable slots changed", slots=usable, of=self._slots.size)
        self._slots.use(usable)


def sentinel(slots: SlotPool) -> Recurring:
    """Return a context manager that measures the load in its own thread."""
    return Recurring(Sentinel(slots).look, name="sentinel", seconds=_SENTINEL_SECONDS, expected=())


HOST_BACKOFF: Final = Backoff(first=1.0, most=30.0)
"""Backoff after consecutive failures. Without it, a broken host would lose match after match."""

LOOK_SECONDS: Final = 0.5
"""Interval of checks for a failed host's recovery, after its backoff."""


@contextmanager
def local_workers(launcher: Launcher, slots: SlotPool, name: str) -> Iterator["LocalWorkers"]:
    """Run this host as a worker, with a thread for each concurrent match.

    Threads only supervise; each match's referee process does the work. In a process pool, one killed process
    would also abort all other matches.
    """
    with ThreadPoolExecutor(slots.size, thread_name_prefix="match") as executor:
        workers = LocalWorkers(launcher, slots, executor, name)
        # A hung container engine blocks this thread, not the one that stores results.
        with Recurring(workers.look, name="host", seconds=LOOK_SECONDS, expected=()), sentinel(slots):
            yield workers


class LocalWorkers:
    """This host; see :class:`arena.scheduler.workers.Workers`. ``executor`` supervises the matches."""

    def __init__(self, launcher: Launcher, slots: SlotPool, executor: Executor, name: str) -> None:
        self.launcher = launcher
        self.slots = slots
        self.executor = executor
        self._name = name
        self._trouble: str | None = None
        self._failures = 0
        self._paused_until = 0.0
        self._lock = threading.Lock()

    def take(self, seats: int) -> "_LocalPlace | None":
        """Reserve slots; return None if too few are free or this host can't run bots."""
        if self._trouble is not None:
            return None
        taken = self.slots.take(seats)
        return None if taken is None else _LocalPlace(self, self._name, taken)

    def status(self) -> tuple[WorkerStatus, ...]:
        """Return the status of this host."""
        slots = self.slots
        usable = slots.usable if slots.usable < slots.size else None
        return (
            WorkerStatus(name=self._name, host=self._name, seats=slots.size, busy=slots.busy, usable=usable),
        )

    def refused(self) -> tuple[RefusedWorker, ...]:
        """Return an empty tuple: there is only this host."""
        return ()

    def stop(self) -> None:
        """Abort all matches and start no more."""
        self.launcher.stop()

    def host_failed(self, error: HostFailed) -> None:
        """Start no matches until this host has recovered. Concurrent failures count as one."""
        with self._lock:
            if self._trouble is None:
                self._failures += 1
                self._paused_until = time.monotonic() + HOST_BACKOFF.after(self._failures)
            self._trouble = str(error)

    def host_played(self) -> None:
        """Reset the backoff after a played match."""
        with self._lock:
            self._failures = 0

    def look(self) -> None:
        """Check whether a failed host has recovered; call this at intervals."""
        before = self._trouble
        if before is None or time.monotonic() < self._paused_until:
            return
        self._trouble = self.launcher.trouble()
        if self._trouble is None:
            _log.info("host recovered", trouble=before)


class _LocalPlace:
    """Reserved slots of this host; see :class:`arena.scheduler.workers.Place`."""

    def __init__(self, workers: LocalWorkers, worker: str, slots: tuple[int, ...]) -> None:
        self.worker = worker
        self.seats = len(slots)
        self.cpus = workers.slots.share
        self._workers = workers
        self._slots = slots

    def play(self, spec: bytes, progress: Callable[[bytes], None]) -> Future[bytes]:
        """Play a match; its slots are free before the future resolves."""
        return self._workers.executor.submit(self._play, spec, progress)

    def judge(self, verdict: Verdict) -> None:
        """Do nothing: no other worker could play instead."""

    def give_back(self) -> None:
        """Free the slots."""
        self._workers.slots.give_back(self._slots)

    def _play(self, spec: bytes, progress: Callable[[bytes], None]) -> bytes:
        try:
            record = self._workers.launcher.play(spec, self._slots, progress)
            reach("cleared")
        except HostFailed as error:
            self._workers.host_failed(error)
            raise
        else:
            self._workers.host_played()
        finally:
            self.give_back()
        reach("place-given-back")
        return record
