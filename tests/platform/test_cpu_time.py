"""Tests of the delays caused by the host, as measured by the kernel."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from arena.platform.cpu_time import CpuFiles, CpuSample, HostDelayMeter, OwnRunDelay, unmeasured_reason
from arena.play.referee.clock import Stopwatch, uncounted_note
from tests.locks import host_lock
from tests.patience import WAIT_SECONDS, wait_until

SPINS = ["sh", "-c", "echo; while :; do :; done"]
SLEEPS = "import signal; signal.pause()"


@pytest.fixture(autouse=True)
def _processors() -> Iterator[None]:
    """Take turns with other tests that keep processors busy: they would delay each other by minutes."""
    with host_lock("processors"):
        yield


@contextmanager
def process(code: str | list[str], core: int) -> Iterator[int]:
    """Run Python code or another program on one core, and yield its process id."""
    program = f"import os; os.sched_setaffinity(0, {{{core}}})\nprint(flush=True)\n{code}"
    command = [sys.executable, "-c", program] if isinstance(code, str) else code
    running = subprocess.Popen(command, stdout=subprocess.PIPE)  # noqa: S603 - our own
    try:
        assert running.stdout is not None
        running.stdout.readline()
        os.sched_setaffinity(running.pid, {core})
        yield running.pid
    finally:
        running.kill()
        running.communicate()


def files(pid: int) -> CpuFiles:
    """Return the files with a process's counts. The process has no control group."""
    return CpuFiles(threads=f"/proc/{pid}/task")


def ran(pid: int) -> float:
    """Return how many seconds of processor time a process has had."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def test_a_wait_for_other_programs_is_the_hosts_share() -> None:
    """Of four processes on one core, each waits for three quarters of the time.

    Other programs add to these waits.
    """
    core, started = min(os.sched_getaffinity(0)), time.monotonic()
    with ExitStack() as stack:
        first, *_ = [stack.enter_context(process(SPINS, core)) for _ in range(4)]
        meter = HostDelayMeter(files(first))
        begun, elapsed, waited = time.monotonic(), 0.0, 0.0
        # Waits count once they are over.
        while (elapsed < 1 or waited <= 0.5 * elapsed) and elapsed < WAIT_SECONDS:
            time.sleep(0.05)
            waited += meter.sample().waited
            elapsed = time.monotonic() - begun
        assert 0.5 * elapsed < waited < time.monotonic() - started


def test_a_sleeping_bot_does_not_wait() -> None:
    """A sleeping bot doesn't wait, however busy the host is."""
    core = min(os.sched_getaffinity(0))
    with ExitStack() as stack:
        asleep, *_ = [stack.enter_context(process(code, core)) for code in (SLEEPS, SPINS, SPINS)]
        meter = HostDelayMeter(files(asleep))
        while not ran(asleep) or "S (sleeping)" not in Path(f"/proc/{asleep}/status").read_text():
            time.sleep(0.01)
        meter.sample()
        time.sleep(0.5)
        assert meter.sample() == (0.0, 0.0)
        assert not meter.is_waiting()


NAPS = """
import os, threading, time

os.nice(19)  # otherwise it would hardly wait on an idle host, where waking threads run first

def nap():
    while True:
        time.sleep(0.02)

threading.Thread(target=nap).start()
time.sleep(3600)
"""


def test_timers_of_a_sleeping_bot_excuse_nothing() -> None:
    """Waits of threads that timers wake up don't count. The same waits count while messages are exchanged."""
    core = min(os.sched_getaffinity(0))
    with ExitStack() as stack:
        asleep, *_ = [stack.enter_context(process(code, core)) for code in (NAPS, SPINS, SPINS, SPINS)]
        wait_until(lambda: len(waits_of(asleep)) > 1, "a second thread")
        silent, talking = HostDelayMeter(files(asleep)), HostDelayMeter(files(asleep))
        silent.sample()  # leave out the work at the bot's start
        talking.sample()
        excused, control, waited, begun = 0.0, 0.0, 0.0, waits(asleep)
        end = time.monotonic() + WAIT_SECONDS
        # A wait counts until the bot sleeps again. On a busy host one wait may take a second.
        while not (waited >= 0.5 and excused < waited / 2 < control) and time.monotonic() < end:
            time.sleep(0.05)
            waited = waits(asleep) - begun
            excused += silent.sample().waited
            talking.message_passed()
            control += talking.sample().waited
        assert waited >= 0.5
        assert excused < waited / 2 < control


def waits(pid: int) -> float:
    """Return how many seconds the threads of a process have waited for a processor."""
    return sum(waits_of(pid).values())


def waits_of(pid: int) -> dict[int, float]:
    """Return each thread's waits. The first thread has the process's id."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return {int(task.name): int((task / "schedstat").read_text().split()[1]) / 1e9 for task in tasks}


def counts(pid: int) -> list[str] | None:
    """Return the kernel's counts of all threads of a process, or None if not all are asleep."""
    tasks = list(Path(f"/proc/{pid}/task").iterdir())
    asleep = all("S (sleeping)" in (task / "status").read_text() for task in tasks)
    return [(task / "schedstat").read_text() for task in tasks] if asleep else None


WORKS = NAPS.replace(
    "time.sleep(3600)",
    """
while True:
    time.sleep(0.3)
    end = time.thread_time() + 0.004
    while time.thread_time() < end:
        pass
""",
)


def test_after_a_sleep_only_the_working_threads_waits_count() -> None:
    """Waits of other threads while the working thread slept don't count."""
    core = min(os.sched_getaffinity(0))
    with ExitStack() as stack:
        bot = stack.enter_context(process(WORKS, core))
        meter = HostDelayMeter(files(bot))
        begun = counts(bot)

        def slept_while_measured() -> bool:
            seen = counts(bot)
            meter.sample()
            return seen not in (None, begun) and seen == counts(bot)

        wait_until(slept_while_measured, "a bot that has run and is asleep")
        for _ in range(3):
            stack.enter_context(process(SPINS, core))
        before, excused, working, others = waits_of(bot), 0.0, 0.0, 0.0
        end = time.monotonic() + WAIT_SECONDS
        # Until the working thread gets its turn, the other thread's waits count.
        while (others < 0.5 or excused >= working + 0.3 * others) and time.monotonic() < end:
            time.sleep(0.05)
            excused += meter.sample().waited
            working = waits_of(bot)[bot] - before[bot]
            others = waits(bot) - sum(before.values()) - working
        assert others >= 0.5
        assert excused < working + 0.3 * others, (excused, working, others)


def test_a_runnable_thread_that_does_not_run_is_seen_to_wait() -> None:
    """The kernel counts a wait only once it is over. Until then, the thread's state shows it."""
    core = min(os.sched_getaffinity(0))
    with ExitStack() as stack:
        least, *_ = [stack.enter_context(process(SPINS, core)) for _ in range(3)]
        os.setpriority(os.PRIO_PROCESS, least, 19)  # so it runs only about every half second
        meter = HostDelayMeter(files(least))
        end = time.monotonic() + WAIT_SECONDS
        while not meter.is_waiting() and time.monotonic() < end:
            meter.sample()
            time.sleep(0.05)
        assert meter.is_waiting()


def test_waits_for_threads_of_the_same_sandbox_are_not_the_hosts(tmp_path: Path) -> None:
    """Time used by the sandbox's other threads is subtracted from a thread's wait."""
    core = min(os.sched_getaffinity(0))
    with ExitStack() as stack:
        family = [stack.enter_context(process(SPINS, core)) for _ in range(6)]
        (tmp_path / "tasks").write_text("\n".join(map(str, family)))
        begun, before = time.monotonic(), sum(map(ran, family))
        together = HostDelayMeter(CpuFiles(threads=str(tmp_path / "tasks")))
        single = HostDelayMeter(files(family[0]))
        while sum(map(ran, family)) - before < 3:
            time.sleep(0.05)
        waited, waited_single = together.sample().waited, single.sample().waited
        elapsed, had = time.monotonic() - begun, sum(map(ran, family)) - before
        # A wait counts once it is over, so it may have begun before. Without the subtraction, 2.5 s count.
        assert waited < elapsed - had + 1.5
        # As a control, one process measured alone appears to wait for the host.
        assert waited_single > waited + 0.2


@pytest.mark.parametrize(
    ("usage", "quota", "stat"),
    [
        pytest.param("{usage}", "nr_periods 3\nthrottled_time {kept}\n", "version 1", id="version 1"),
        pytest.param(None, "usage_usec {usage}\nthrottled_usec {kept}\n", "version 2", id="version 2"),
    ],
)
def test_time_withheld_by_the_quota_is_not_the_hosts(
    tmp_path: Path, usage: str | None, quota: str, stat: str
) -> None:
    """The kernel includes this time in the run delay, so it is subtracted, in either version's units."""
    unit = 1e9 if stat == "version 1" else 1e6
    core = min(os.sched_getaffinity(0))
    with ExitStack() as stack:
        pid, *_ = [stack.enter_context(process(SPINS, core)) for _ in range(3)]
        (tmp_path / "tasks").write_text(f"{pid}\n0\n")
        paths = {"usage": tmp_path / "usage", "quota": tmp_path / "cpu.stat"}

        def write(used: float, kept: float) -> None:
            numbers = {"usage": round(used * unit), "kept": round(kept * unit)}
            paths["usage"].write_text((usage or quota).format(**numbers))
            paths["quota"].write_text(quota.format(**numbers))

        first = paths["quota"] if usage is None else paths["usage"]
        shared = CpuFiles(
            threads=str(tmp_path / "tasks"), usage=str(first), quota=str(paths["quota"]), cores=0.5
        )
        write(5.0, 7.0)
        own, host = HostDelayMeter(shared), HostDelayMeter(files(pid))
        begun, before = ran(pid), waits(pid)
        wait_until(lambda: waits(pid) - before > 0.3, "a wait for the other processes")
        used = ran(pid) - begun
        write(5.0 + used, 7.0 + 100)
        assert host.sample().waited > 0.2
        sample = own.sample()
        assert sample.waited == 0.0
        assert sample.needed == pytest.approx(used / 0.5, abs=1e-5)


def test_a_sandbox_that_is_gone_has_no_waits() -> None:
    """A sandbox's group and processes may disappear between two measurements."""
    meter = HostDelayMeter(
        CpuFiles(threads="/nowhere/tasks", usage="/nowhere/usage", quota="/nowhere/cpu.stat")
    )
    assert meter.sample() == (0.0, 0.0)
    assert not meter.is_waiting()


def test_a_thread_that_shares_its_core_sees_its_own_waits() -> None:
    """A thread's waits grow while it works and other programs want the same core."""
    core = min(os.sched_getaffinity(0))
    before = os.sched_getaffinity(0)
    with ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(process(SPINS, core))
        waits = OwnRunDelay()
        try:
            os.sched_setaffinity(0, {core})
            first, end = waits(), time.thread_time() + 0.1
            while time.thread_time() < end:
                pass
        finally:
            os.sched_setaffinity(0, before)
        assert waits() - first > 0.05


def test_no_more_is_excused_than_there_was() -> None:
    """Waits from before the decision aren't excused, nor is the minimum time for the bot's own work."""
    stopwatch = Stopwatch(100.0)
    stopwatch.deduct(CpuSample(waited=5.0, needed=5.0), 100.0)
    assert stopwatch.uncounted == 0.0
    stopwatch.deduct(CpuSample(waited=5.0, needed=0.0), 100.5)
    assert stopwatch.uncounted == 0.5
    stopwatch.deduct(CpuSample(waited=0.0, needed=1.5), 102.0)
    assert stopwatch.uncounted == 0.5
    stopwatch.deduct(CpuSample(waited=0.0, needed=0.0), 104.0)
    assert (stopwatch.uncounted, stopwatch.seconds(104.0)) == (0.5, 3.5)
    assert uncounted_note(stopwatch.uncounted) == ", not counting 0.5 s during which the host kept it waiting"
    assert uncounted_note(0.0) == ""


def test_why_the_hosts_share_cannot_be_measured() -> None:
    """Either no thread is visible, or a file can't be read."""
    seen = f"/proc/{os.getpid()}/task"
    assert unmeasured_reason(CpuFiles(threads=seen)) is None
    assert unmeasured_reason(CpuFiles(threads="/nowhere/tasks")) == (
        "no thread with scheduler statistics is visible in /nowhere/tasks"
    )
    for lacking in (
        CpuFiles(threads=seen, usage="/nowhere/usage"),
        CpuFiles(threads=seen, quota="/nowhere/stat"),
    ):
        assert unmeasured_reason(lacking) == f"{lacking.usage or lacking.quota} can't be read"
