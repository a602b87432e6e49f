"""Tests of the number of usable seats, which depends on the host's load."""

import os
import subprocess
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from arena.play.launcher.launcher import Launcher
from arena.play.launcher.slots import SlotPool
from arena.sandbox.process.runtime import ProcessRuntime
from arena.scheduler.workers import MAX_WAIT_SECONDS, LoadMonitor, SlotLimiter, local_workers
from tests.locks import host_lock
from tests.patience import WAIT_SECONDS, wait_until


@pytest.fixture(autouse=True)
def _any_load() -> None:
    """Override the fixture that turns off the load monitor."""


def settled(limiter: SlotLimiter, given: float, busy: int = 0, begun: float = 0.0, looks: int = 40) -> int:
    """Return the number of usable seats after the host has given this share of a core for some time."""
    return [limiter.update(given, busy, begun + number) for number in range(looks)][-1]


def test_a_host_that_gives_every_seat_its_share_uses_all() -> None:
    """A share that is only slightly larger than a seat's is enough for all seats."""
    assert [settled(SlotLimiter(10, 0.4), given) for given in (1.0, 0.6, 0.42)] == [10, 10, 10]


def test_fewer_seats_are_used_on_a_busy_host_but_at_least_one() -> None:
    """As many seats are used as the measured share suffices for."""
    assert [settled(SlotLimiter(10, 0.4), given) for given in (0.201, 0.121, 0.06)] == [5, 3, 1]


def test_the_number_of_seats_does_not_flicker() -> None:
    """A small decrease closes seats, but an equally small increase doesn't open them again."""
    limiter = SlotLimiter(10, 0.4)
    settled(limiter, 0.21)
    assert {limiter.update(given, 0, 100.0) for given in (0.2, 0.24) * 50} == {5}
    assert settled(limiter, 0.41) == 8
    assert settled(limiter, 1.0) == 10


def test_a_single_measurement_closes_no_seat() -> None:
    """A single low measurement may be due to another program's start."""
    assert SlotLimiter(5, 0.4).update(0.02, 0, 0.0) == 5


def test_an_overloaded_host_starts_one_match_after_a_while() -> None:
    """When its matches are finished, an overloaded host starts one match at a time."""
    limiter = SlotLimiter(5, 0.4)
    assert settled(limiter, 0.01, busy=4) == 0
    assert settled(limiter, 0.07, busy=4, begun=40.0) == 0
    last = limiter.update(0.01, 4, 100.0)
    assert (last, limiter.update(0.01, 0, 100.0 + MAX_WAIT_SECONDS - 1)) == (0, 0)
    assert limiter.update(0.01, 0, 100.0 + MAX_WAIT_SECONDS) == 1
    assert limiter.update(0.01, 2, 101.0 + MAX_WAIT_SECONDS) == 0
    assert settled(limiter, 0.6, begun=300.0) == 5


def test_the_sentinel_sees_other_programs() -> None:
    """A thread that shares its core with ten programs gets less than a seat's share."""
    core = min(os.sched_getaffinity(0))
    slots = SlotPool(10, 0.4)

    def watch() -> None:
        os.sched_setaffinity(0, {core})
        load_monitor = LoadMonitor(slots)
        for _ in range(15):
            load_monitor.measure()

    with host_lock("processors"), ExitStack() as stack:
        for _ in range(10):
            spinner = subprocess.Popen(["sh", "-c", "while :; do :; done"])  # noqa: S607 - on PATH
            stack.callback(spinner.wait)
            stack.callback(spinner.kill)
            os.sched_setaffinity(spinner.pid, {core})
        thread = threading.Thread(target=watch)
        thread.start()
        thread.join(WAIT_SECONDS)
    assert slots.usable <= 5


def test_a_host_that_plays_matches_measures_its_load(run_dir: Path) -> None:
    """The number of usable slots is updated repeatedly, so a wrong value doesn't last."""
    slots = SlotPool(5, 0.4)
    wrong = slots.size + 1
    with local_workers(Launcher(ProcessRuntime(), "test", run_dir), slots, "host"):
        for _ in range(2):
            slots.usable = wrong
            wait_until(lambda: slots.usable != wrong)
