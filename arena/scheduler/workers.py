"""The workers that play a coordinator's matches: the interface, and this host as the only worker."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from enum import Enum
from typing import Final, Protocol

import structlog

from arena.platform.cpu_time import OwnRunDelay
from arena.platform.environment import failpoint
from arena.platform.periodic import Backoff, PeriodicTask
from arena.play.launcher import HostFailed, LauncherError
from arena.play.launcher.launcher import Launcher
from arena.play.launcher.slots import SlotPool
from arena.protocol.match import WorkerStatus
from arena.protocol.status import RefusedWorker

_log = structlog.get_logger()


class WorkerLost(LauncherError):
    """A worker disappeared during a match; the message names the worker."""


class Verdict(Enum):
    """A coordinator's verdict on a worker after a match."""

    VALID = "valid"
    """The record passed its checks."""

    FAILED = "failed"
    """The match failed on the worker, or its record failed the checks."""

    LOST = "lost"
    """The worker or its host failed, or the record did not arrive in time."""


class Reservation(Protocol):
    """Capacity reserved on a worker for one match."""

    @property
    def worker(self) -> str:
        """The worker's name."""

    @property
    def seats(self) -> int:
        """The number of reserved seats."""

    @property
    def cpus(self) -> float:
        """The number of cores that each bot may use."""

    def play(self, spec: bytes, progress: Callable[[bytes], None]) -> Future[bytes]:
        """Play a match; call this once. The seats are released when the future is done.

        Takes an encoded :class:`arena.protocol.match.MatchSpec`; the future resolves to an encoded
        :class:`arena.protocol.match.MatchRecord`. Until the future is done, ``progress`` receives
        :class:`arena.protocol.match.Progress` messages from any thread; each includes the game so far, so
        losing one does no harm. The future may fail with MatchVoid (HostFailed if the worker can't play at
        all), WorkerLost or LauncherStopped.
        """

    def report(self, verdict: Verdict) -> None:
        """Report the checked outcome of a match; call this once for each match, except at shutdown."""

    def release(self) -> None:
        """Release the seats without playing."""


class Workers(Protocol):
    """The workers that play matches. Thread-safe."""

    def reserve(self, seats: int) -> Reservation | None:
        """Reserve seats for a match, or return None if no worker has that many free."""

    def status(self) -> tuple[WorkerStatus, ...]:
        """Return the status of each worker."""

    def refused(self) -> tuple[RefusedWorker, ...]:
        """Return the rejected workers, sorted by name."""

    def stop(self) -> None:
        """Abort all matches and start no more."""


_MEASURE_SECONDS: Final = 1.0
"""Interval between load measurements."""

_WORK_SECONDS: Final = 0.008
"""CPU time per measurement, in seconds: more than one time slice, but less than 1% of a core."""

_SMOOTHING: Final = 0.2
"""Weight of the latest measurement; the average covers several seconds."""

_OVERLOADED: Final = 0.05
_RECOVERED: Final = 0.08
"""Shares of a core. If the measured share falls below ``_OVERLOADED``, no match starts until the share has
reached ``_RECOVERED``, or a minute has passed in which no seats were in use."""

_GROWTH_MARGIN: Final = 0.8
"""To keep the number of seats stable, seats are added only as far as this fraction of the share allows."""

MAX_WAIT_SECONDS: Final = 60.0
"""An overloaded host waits this long, then starts a match anyway: bots' clocks exclude the host's delays."""


class SlotLimiter:
    """Decides how many of ``size`` seats are usable if each needs a ``share`` of a core. Does no I/O."""

    def __init__(self, size: int, share: float) -> None:
        self._size = size
        self._share = share
        self._overloaded_since: float | None = None
        self.received = 1.0
        self.seats = size

    def update(self, received: float, busy: int, now: float) -> int:
        """Return the number of usable seats: 0 while the host is overloaded, otherwise at least 1.

        The number is 1 instead of 0 if the host has been overloaded for ``MAX_WAIT_SECONDS`` with no seats in
        use. One usable seat is enough to start a match of any size. ``received`` is the share of a core that
        a busy thread got, ``busy`` the number of seats in use, and ``now`` a monotonic time in seconds.
        """
        self.received += (received - self.received) * _SMOOTHING
        if self.received < (_OVERLOADED if self._overloaded_since is None else _RECOVERED):
            if self._overloaded_since is None or busy:
                self._overloaded_since = now
            self.seats = int(now - self._overloaded_since >= MAX_WAIT_SECONDS)
            return self.seats
        self._overloaded_since = None
        lower, higher = self._seats_for(self.received), self._seats_for(self.received * _GROWTH_MARGIN)
        self.seats = max(higher, min(self.seats, lower))
        return self.seats

    def _seats_for(self, received: float) -> int:
        return max(1, min(self._size, int(self._size * received / self._share)))


class LoadMonitor:
    """Measures the host's load and sets the number of usable slots."""

    def __init__(self, slots: SlotPool) -> None:
        self._slots = slots
        self._limiter = SlotLimiter(slots.size, slots.share)
        self._run_delay: OwnRunDelay | None = None

    def measure(self) -> None:
        """Spin briefly, measure this thread's share of a core, and set the number of usable slots.

        Not thread-safe.
        """
        if self._run_delay is None:
            self._run_delay = OwnRunDelay()  # of the calling thread
        before, begun = self._run_delay(), time.thread_time()
        while (worked := time.thread_time() - begun) < _WORK_SECONDS:
            pass
        received = worked / (worked + self._run_delay() - before)
        usable = self._limiter.update(received, self._slots.reserved, time.monotonic())
        if usable != self._slots.usable:
            _log.info("usable slots changed", slots=usable, of=self._slots.size)
        self._slots.usable = usable


def load_monitor(slots: SlotPool) -> PeriodicTask:
    """Return a context manager that measures the load in its own thread."""
    return PeriodicTask(
        LoadMonitor(slots).measure, name="load monitor", seconds=_MEASURE_SECONDS, expected=()
    )


HOST_BACKOFF: Final = Backoff(first=1.0, maximum=30.0)
"""Backoff after consecutive failures. Without it, a broken host would lose match after match."""

POLL_SECONDS: Final = 0.5
"""Interval between recovery checks of a failed host, once its backoff has ended."""


@contextmanager
def local_workers(launcher: Launcher, slots: SlotPool, name: str) -> Iterator["LocalWorkers"]:
    """Run this host as a worker, with a thread for each concurrent match.

    Threads are enough, because they only supervise: each match's referee process does the work. A process
    pool would be worse, because one killed process would abort all other matches too.
    """
    with ThreadPoolExecutor(slots.size, thread_name_prefix="match") as executor:
        workers = LocalWorkers(launcher, slots, executor, name)
        # In a separate thread, so that a hung container engine doesn't block the thread that stores results.
        with PeriodicTask(workers.poll, name="host", seconds=POLL_SECONDS, expected=()), load_monitor(slots):
            yield workers


class LocalWorkers:
    """This host; see :class:`arena.scheduler.workers.Workers`. ``executor`` runs a thread per match."""

    def __init__(self, launcher: Launcher, slots: SlotPool, executor: Executor, name: str) -> None:
        self.launcher = launcher
        self.slots = slots
        self.executor = executor
        self._name = name
        self._trouble: str | None = None
        self._failures = 0
        self._paused_until = 0.0
        self._lock = threading.Lock()

    def reserve(self, seats: int) -> "_LocalReservation | None":
        """Reserve slots; return None if too few are free or this host can't run bots."""
        if self._trouble is not None:
            return None
        taken = self.slots.reserve(seats)
        return None if taken is None else _LocalReservation(self, self._name, taken)

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
        """Reset the backoff after a match has been played."""
        with self._lock:
            self._failures = 0

    def poll(self) -> None:
        """Check whether a failed host has recovered; call this at intervals."""
        before = self._trouble
        if before is None or time.monotonic() < self._paused_until:
            return
        self._trouble = self.launcher.unavailable_reason()
        if self._trouble is None:
            _log.info("host recovered", trouble=before)


class _LocalReservation:
    """Reserved slots of this host; see :class:`arena.scheduler.workers.Reservation`."""

    def __init__(self, workers: LocalWorkers, worker: str, slots: tuple[int, ...]) -> None:
        self.worker = worker
        self.seats = len(slots)
        self.cpus = workers.slots.share
        self._workers = workers
        self._slots = slots

    def play(self, spec: bytes, progress: Callable[[bytes], None]) -> Future[bytes]:
        """Play a match; its slots are free before the future resolves."""
        return self._workers.executor.submit(self._play, spec, progress)

    def report(self, verdict: Verdict) -> None:
        """Do nothing: no other worker could play instead."""

    def release(self) -> None:
        self._workers.slots.release(self._slots)

    def _play(self, spec: bytes, progress: Callable[[bytes], None]) -> bytes:
        try:
            record = self._workers.launcher.play(spec, self._slots, progress, keep=self._workers.slots.keep)
            failpoint("cleared")
        except HostFailed as error:
            self._workers.host_failed(error)
            raise
        else:
            self._workers.host_played()
        finally:
            self.release()
        failpoint("place-given-back")
        return record
