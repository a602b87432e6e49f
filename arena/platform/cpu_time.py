"""Linux's CPU time counters: how long threads ran and waited, and how long their quota throttled them.

A runnable thread that isn't running waits in a queue. The kernel adds this wait to the thread's run delay
(``/proc/TID/schedstat``) once the thread runs again. A thread waits for one of three reasons:

* Other programs are using the processors. That is the host's delay, which this module measures.
* Threads of the same sandbox are using them. That counts against the sandbox.
* The sandbox has used up its quota. That counts against the sandbox too. The kernel includes this wait in the
  run delay, but also counts it in the control group's ``cpu.stat``, so it can be subtracted.

Pressure stall information isn't used: it doesn't distinguish between these reasons, and is available per
container only with cgroup v2.
"""

import math
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

_NANO: Final = 1e-9
_MICRO: Final = 1e-6

_MAX_UNMATCHED_SECONDS: Final = 0.2
"""Maximum throttled time to carry over. It is carried over because it may appear as run delay only in a later
measurement. The quota's period is 0.1 s."""

_IDLE_SECONDS: Final = 0.001
"""A sandbox that has used less than this since the last measurement counts as idle."""

_MAX_IDLE_WORK_SECONDS: Final = 0.002
"""Maximum processor time that a sleeping bot's language runtime may use between two measurements that
find all threads asleep."""

_SLACK_SECONDS: Final = 0.02
"""The kernel assigns a quota in slices of 5 ms, and may leave some of it unused."""

_THROTTLE_SECONDS: Final = 0.25
"""If the quota throttled a sandbox this recently, it may still be throttled. The quota's period is 0.1 s."""

_MAX_DEBT_SECONDS: Final = 0.5
"""Maximum time that a sandbox can owe. If a host doesn't enforce the quota, a sandbox may use any amount of
processor time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuFiles:
    """The files with the counters of a sandbox's processor time. Every user on the host may read them."""

    threads: str  # lists the ids of the sandbox's threads: a file, or a folder such as `/proc/PID/task`
    usage: str = ""  # the threads' total usage: `cpuacct.usage` or `cpu.stat`; empty if not counted
    quota: str = ""  # the threads' throttled time: `cpu.stat`; empty without a quota
    cores: float = 0.0  # the quota; 0 for none


class CpuSample(NamedTuple):
    """A sandbox's waits and work between two measurements, in seconds."""

    # The host's delay. A wait counts once it is over, so it may have begun before the first
    # measurement. The value is negative if waits that were counted earlier turn out to have delayed nothing.
    waited: float
    needed: float  # minimum time for the sandbox's work, with its quota and on an idle host


class _Thread(NamedTuple):
    """Seconds that a thread has run and waited since its start, and how many time slices it has run."""

    ran: float
    waited: float
    timeslices: int


class _ActivePeriod(NamedTuple):
    """The time since a message last passed or all threads were last asleep, in seconds."""

    spent: float = 0.0  # how long threads have run
    # How long the sandbox has waited, throttling included; 0 unless the period began with a sleep.
    wait: float = 0.0
    counted: float = 0.0  # the part of this wait that samples have included


class HostDelayMeter:
    """Measures how long the host kept a runnable sandbox from running.

    The measurement errs in the host's favour. The running time of all other threads, on any core, is
    subtracted from each thread's wait; the longest remainder counts, minus the throttled time. The waits of
    threads that have ended since the last measurement are ignored. Therefore, a bot that spins or forks until
    its quota is used up gains nothing.

    A bot that sleeps gains nothing either, although its runtime's timers keep waking threads, each of which
    waits for a processor. If some threads wake and all are soon asleep again, without a message in or out
    (:meth:`message_passed`), nothing depended on those waits, so they don't count. If the bot doesn't sleep
    again, only the waits of the thread that has run longest since the sleep count: the others may have waited
    while that thread was asleep.
    """

    def __init__(self, files: CpuFiles) -> None:
        self._files = files
        self._sampled_at = time.monotonic()
        self._debt_until = self._sampled_at
        self._threads: dict[int, _Thread] = {}
        self._used = 0.0
        self._throttled = 0.0
        self._throttle_count = 0  # how often the quota has stopped the sandbox
        self._throttled_at = -math.inf  # when that count last rose
        self._unmatched = 0.0
        self._idle = False
        self._message_passed = False  # since the last measurement
        # The threads' counters when all were last asleep, or None if a message has passed since.
        self._asleep: dict[int, _Thread] | None = None
        self._active = _ActivePeriod()
        self.sample()
        self._debt_until = self._sampled_at  # what the sandbox used before doesn't matter

    def sample(self) -> CpuSample:
        """Measure the time since the last call."""
        moment = time.monotonic()
        threads = dict(self._read_threads())
        # Read these after the waits: the subtracted counts must not be older than the waits.
        used, (throttled, stops) = self._read_usage(), self._read_throttled()
        spent, stopped = used - self._used, throttled - self._throttled
        wait = self._new_wait(threads, spent)
        throttled_part = min(self._unmatched + stopped, max(0.0, wait))
        self._unmatched = min(self._unmatched + stopped - throttled_part, _MAX_UNMATCHED_SECONDS)
        if stops > self._throttle_count:
            self._throttle_count, self._throttled_at = stops, moment
        self._threads, self._used, self._throttled = threads, used, throttled
        self._idle = spent < _IDLE_SECONDS
        needed = spent / self._files.cores if self._files.cores else 0.0
        debt_until = max(self._debt_until, self._sampled_at) + needed
        self._debt_until = min(debt_until, moment + _MAX_DEBT_SECONDS)
        self._sampled_at = moment
        delay = wait - throttled_part
        return CpuSample(delay - self._idle_wait(threads, delay, spent), needed)

    def message_passed(self) -> None:
        """Record that the bot is about to get a message or has just sent one, so that waits then count."""
        self._message_passed = True

    @property
    def found_threads(self) -> bool:
        """True if the last measurement saw a thread that had run."""
        return any(thread.ran for thread in self._threads.values())

    def _new_wait(self, threads: dict[int, _Thread], spent: float) -> float:
        """Return how much the sandbox's wait has grown since the last call, throttling included."""
        if self._asleep is None:
            waits = (_wait(now, self._threads.get(n), spent) for n, now in threads.items())
            return max([0.0, *waits])
        asleep, period = self._asleep, self._active
        busiest = max(threads, key=lambda n: _ran(threads[n], asleep.get(n)), default=None)
        if busiest is None:
            return 0.0
        wait = max(0.0, _wait(threads[busiest], asleep.get(busiest), period.spent + spent))
        self._active = period._replace(wait=wait)
        return wait - period.wait

    def _idle_wait(self, threads: dict[int, _Thread], delay: float, spent: float) -> float:
        """Return the wait to subtract because it delayed nothing. This may begin a new period."""
        if self._message_passed:
            self._message_passed, self._asleep, self._active = False, None, _ActivePeriod()
            return 0.0
        period = self._active._replace(spent=self._active.spent + spent, counted=self._active.counted + delay)
        # If the sandbox hasn't run since a message was sent to it, it hasn't read the message yet.
        if not period.spent or not self._all_asleep(threads):
            self._active = period
            return 0.0
        idle = self._asleep is not None and period.spent < _MAX_IDLE_WORK_SECONDS
        self._asleep, self._active = threads, _ActivePeriod()
        return period.counted if idle else 0.0

    def _all_asleep(self, threads: dict[int, _Thread]) -> bool:
        """Return True if all threads slept at the same moment: none ran while their states were read."""
        return _thread_states(threads).isdisjoint("RD") and dict(self._read_threads()) == threads

    def is_waiting(self) -> bool:
        """Return True if the host is keeping the sandbox waiting: it is runnable, but was idle recently.

        The length of such a wait is known only afterwards. A sandbox stopped by its own quota is also
        runnable and idle, and the kernel counts that time only afterwards. But a sandbox stopped by its quota
        has used more than the quota allows for that time, while one stopped by the host has used less. If a
        sandbox has used far more, in one long system call, the kernel counts one stop per period until the
        excess is paid off.
        """
        now = time.monotonic()
        if not self._idle or now < max(
            self._debt_until + _SLACK_SECONDS, self._throttled_at + _THROTTLE_SECONDS
        ):
            return False
        return "R" in _thread_states(self._threads)

    def _read_threads(self) -> Iterator[tuple[int, _Thread]]:
        for number in self._thread_ids():
            with suppress(OSError, ValueError):  # the thread has ended
                ran, waited, timeslices = map(int, _read(f"/proc/{number}/schedstat").split())
                yield number, _Thread(ran * _NANO, waited * _NANO, timeslices)

    def _thread_ids(self) -> list[int]:
        path = self._files.threads
        try:
            if path.endswith("/task"):
                return [int(folder.name) for folder in Path(path).iterdir()]
            words = _read(path).split()
        except OSError:  # the sandbox has ended
            return []
        # Threads that this process can't see are listed with the id 0.
        return [number for number in map(int, words) if number]

    def _read_usage(self) -> float:
        if not self._files.usage:
            return sum(thread.ran for _, thread in self._read_threads())
        return _read_seconds(self._files.usage, self._used)

    def _read_throttled(self) -> tuple[float, int]:
        """Return the throttled seconds and how often the quota has stopped the sandbox."""
        if not self._files.quota:
            return 0.0, 0
        try:
            counts = _parse_stat(_read(self._files.quota))
        except OSError:  # the group was removed
            return self._throttled, self._throttle_count
        return _stat_seconds(counts, "throttled"), counts.get("nr_throttled", 0)


def unmeasured_reason(files: CpuFiles) -> str | None:
    """Return why the host's delay can't be measured for a running sandbox, or None if it can.

    Call this while a thread of the sandbox is running.
    """
    meter = HostDelayMeter(files)
    if not meter.found_threads:
        return f"no thread with scheduler statistics is visible in {files.threads}"
    for path, name in ((files.usage, "usage"), (files.quota, "throttled")):
        if path and math.isnan(_read_seconds(path, math.nan, name)):
            return f"{path} can't be read"
    return None


class OwnRunDelay:
    """How long the creating thread has waited for a processor since it started, in seconds."""

    def __init__(self) -> None:
        try:
            self._file = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # the kernel doesn't count these waits
            self._file = -1

    def __call__(self) -> float:
        """Return the seconds, or 0 if the kernel doesn't count them. Any thread may call this."""
        if self._file < 0:
            return 0.0
        return int(os.pread(self._file, 100, 0).split()[1]) * _NANO


def _wait(now: _Thread, before: _Thread | None, spent: float) -> float:
    """Return how long a thread has waited, minus the time that the sandbox's other threads ran meanwhile.

    ``before`` is None if the thread is new; ``spent`` is the time that all threads have run since ``before``.
    The result may be negative.
    """
    if before is None or before.waited > now.waited:
        before = _Thread(0.0, 0.0, 0)
    return now.waited - before.waited - max(0.0, spent - _ran(now, before))


def _ran(now: _Thread, before: _Thread | None) -> float:
    return now.ran - (before.ran if before is not None else 0.0)


def _read_seconds(path: str, before: float, name: str = "usage") -> float:
    """Return a control group's processor time in seconds, or ``before`` if the group was removed."""
    try:
        text = _read(path)
    except OSError:
        return before
    if text.isdigit() or text.strip().isdigit():
        return int(text) * _NANO
    return _stat_seconds(_parse_stat(text), name)


def _parse_stat(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in map(str.split, text.splitlines())}


def _stat_seconds(counts: dict[str, int], name: str) -> float:
    # cgroup v2 counts microseconds, v1 nanoseconds.
    if f"{name}_usec" in counts:
        return counts[f"{name}_usec"] * _MICRO
    return counts.get(f"{name}_time", 0) * _NANO


def _thread_states(numbers: Iterable[int]) -> set[str]:
    """Return the states of threads, such as R for running or runnable, and D for uninterruptible sleep."""
    states = set()
    for number in numbers:
        with suppress(OSError, IndexError):  # the thread has ended
            # The thread's name, which precedes the state, may contain any character.
            states.add(_read(f"/proc/{number}/stat").rpartition(")")[2].split()[0])
    return states


def _read(path: str) -> str:
    # Threads choose their own names, which may be any bytes.
    return Path(path).read_text(errors="replace")
