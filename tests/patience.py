"""How long tests wait for something that must happen, and how long it may take."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

import pytest

from arena.protocol.match import Clock

WAIT_SECONDS: Final = 280
"""Seconds, longer than anything takes on a busy host."""

PATIENT_CLOCK: Final = Clock(start_millis=1000 * WAIT_SECONDS, move_millis=1000 * WAIT_SECONDS)
"""For bots that must not be late, even if delays by a busy host are counted."""

_MUCH: Final = 5

_T = TypeVar("_T")


def wait_until(condition: Callable[[], _T | None], what: str = "a condition", pause: float = 0.01) -> _T:
    """Wait until the condition returns a true value, and return it. The pauses become longer and longer.

    ``what`` is named in the error, ``pause`` is the first pause in seconds.
    """
    deadline = time.monotonic() + WAIT_SECONDS
    while not (found := condition()):
        assert time.monotonic() < deadline, f"timed out after {WAIT_SECONDS} s: {what}"
        time.sleep(pause)
        pause = min(1.2 * pause, 0.25)
    return found


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail the test if the block takes longer than ``seconds``, or skip it if the host was too busy to tell.

    Even on a busy host, the block must not take ``_MUCH`` times as long.
    """
    begun = time.monotonic()
    yield
    taken = time.monotonic() - begun
    if taken < seconds:
        return
    load, cores = os.getloadavg()[0], len(os.sched_getaffinity(0))
    if load > 2 * cores and taken < _MUCH * seconds:
        pytest.skip(f"a load of {load:.0f} on {cores} cores is too high to tell how long it takes")
    pytest.fail(f"it took {taken:.1f} s instead of at most {seconds:g} s")
