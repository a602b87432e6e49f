"""Tests of the clock for bots that are called in this process."""

import subprocess
import sys

PROGRAM = """
import signal, sys, time
from arena.local import timing

timing._FROZEN_SECONDS = 8

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
    for _ in range(100):
        timer.call(9, choose)
        time.sleep(0.1)
    try:
        timer.call(0.2 if len(sys.argv) > 1 else 0, loop if len(sys.argv) > 1 else choose)
    except timing.TimeLimitExceeded:
        print("late")
"""


def test_a_bot_may_use_the_timer() -> None:
    """Without ticks, late calls are noticed at their end. If the bot restores the handler, it ticks again."""
    words = [sys.executable, "-c", PROGRAM]
    with (
        subprocess.Popen([*words, "restore"], stdout=subprocess.PIPE) as restoring,  # noqa: S603 - our own program
        subprocess.Popen(words, stdout=subprocess.PIPE) as keeping,  # noqa: S603 - as above
    ):
        assert (restoring.communicate()[0], restoring.returncode) == (b"late\n", 0)
        assert (keeping.communicate()[0], keeping.returncode) == (b"late\n", 0)
