"""Tests of the clock for bots that are called in this process."""

import subprocess
import sys

import pytest

PROGRAM = """
import signal, sys, time
from arena.local import timing

timing._FROZEN_SECONDS = 3

def choose():
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 9)
    signal.setitimer(signal.ITIMER_REAL, 0)
    if len(sys.argv) > 1:
        signal.signal(signal.SIGALRM, before)

def loop():
    while True:
        pass

timer = timing.DecisionTimer()
with timer.running(sys.stderr):
    for _ in range(40):
        timer.call(9, choose)
        time.sleep(0.1)
    if len(sys.argv) > 1:
        try:
            timer.call(0.2, loop)
        except timing.TimeLimitExceeded:
            print("late")
"""


@pytest.mark.parametrize("restores", [True, False])
def test_a_bot_may_use_the_timer(*, restores: bool) -> None:
    """It doesn't end the process, even if there is no tick for a long time. A restored timer ticks again."""
    words = [sys.executable, "-c", PROGRAM, *(["restore"] if restores else [])]
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert (done.returncode, done.stdout) == (0, "late\n" if restores else ""), done.stderr
