"""This host as the only worker."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final

import structlog

from arena.failpoints import reach
from arena.launcher import HostFailed, Launcher, SlotPool
from arena.recurring import Recurring
from arena.workers.setbacks import Setbacks
from arena.workers.status import WorkerStatus
from arena.workers.workers import Verdict

_log = structlog.get_logger()

LOOK_SECONDS: Final = 0.5
"""Between two looks whether a host that failed can play again, once its pause has passed."""


@contextmanager
def local_workers(launcher: Launcher, slots: SlotPool, name: str) -> Iterator["LocalWorkers"]:
    """Give this host as a worker, with a thread for each match that it may play at a time.

    A thread only looks after a match; what costs time is done by its referee, a process of its own. In a pool
    of processes one that is killed would take the matches of all others with it.

    Args:
        launcher: Plays the matches.
        slots: The seats of this host.
        name: Of the host.
    """
    with ThreadPoolExecutor(slots.size, thread_name_prefix="match") as executor:
        workers = LocalWorkers(launcher, slots, executor, name)
        # An engine that hangs is waited for here, and not where results are stored.
        with Recurring(workers.look, name="host", seconds=LOOK_SECONDS, expected=()):
            yield workers


class LocalWorkers:
    """This host; see :class:`arena.workers.workers.Workers`.

    Args:
        launcher: Plays the matches.
        slots: The seats of this host.
        executor: Looks after the matches.
        name: Of the host.
    """

    def __init__(self, launcher: Launcher, slots: SlotPool, executor: Executor, name: str) -> None:
        self.launcher = launcher
        self.slots = slots
        self.executor = executor
        self._name = name
        self._trouble: str | None = None
        self._setbacks = Setbacks()
        self._lock = threading.Lock()

    def take(self, seats: int) -> "_LocalPlace | None":
        """Reserve slots; none while this host can't run bots at all."""
        if self._trouble is not None:
            return None
        taken = self.slots.take(seats)
        return None if taken is None else _LocalPlace(self, self._name, taken)

    def status(self) -> tuple[WorkerStatus, ...]:
        """Return this host."""
        return (WorkerStatus(name=self._name, host=self._name, seats=self.slots.size, busy=self.slots.busy),)

    def stop(self) -> None:
        """End all matches at once, and begin no more."""
        self.launcher.stop()

    def host_failed(self, error: HostFailed) -> None:
        """Begin no more matches until this host can run bots again. Those that fail together count as one."""
        with self._lock:
            if self._trouble is None:
                self._setbacks.add(time.monotonic())
            self._trouble = str(error)

    def host_played(self) -> None:
        """Take note that this host has played a match."""
        with self._lock:
            self._setbacks.reset()

    def look(self) -> None:
        """Where this host could not run bots, see whether it can again. To be called at intervals."""
        before = self._trouble
        if before is None or not self._setbacks.are_over(time.monotonic()):
            return
        self._trouble = self.launcher.trouble()
        if self._trouble is None:
            _log.info("this host can play again", after=before)


class _LocalPlace:
    """Some of this host's slots; see :class:`arena.workers.workers.Place`."""

    def __init__(self, workers: LocalWorkers, worker: str, slots: tuple[int, ...]) -> None:
        self.worker = worker
        self.seats = len(slots)
        self.cpus = workers.slots.share
        self._workers = workers
        self._slots = slots

    def play(self, spec: bytes, progress: Callable[[bytes], None]) -> Future[bytes]:
        """Play a match; the slots are free again before anybody hears that it is over."""
        return self._workers.executor.submit(self._play, spec, progress)

    def judge(self, verdict: Verdict) -> None:
        """Make nothing of it: there is nobody else here who could play instead."""

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
