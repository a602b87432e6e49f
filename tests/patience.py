"""How long tests wait for something that must happen, and how long it may take."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

WAIT_SECONDS: Final = 280
"""Seconds: longer than anything takes on a busy host."""

_MUCH: Final = 5


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail the test if this takes longer, or skip it if the host has been too busy to tell.

    Even on a busy host it may not take ``_MUCH`` times as long.
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
