"""Bots that take time. Run in a bot's container."""

import os
import signal
import time
from pathlib import Path
from typing import Final

from arena.rules import Move, View
from tests.sandbox.hostile.bot import MOMENT, choose, play, tell

_SPINNERS: Final = 4
_WINDOWS: Final = 4
_WINDOW_SECONDS: Final = 0.5
_SPIN_SECONDS: Final = 8.0
_STOP_SECONDS: Final = 6.5
_OVER_SECONDS: Final = 1.7
"""More than the free second, and with a bank of 2 s the third such decision is late by any measure."""

_PAUSES: Final = 5


def spin() -> None:
    """Keep all processors busy, and answer nothing meanwhile."""
    play(_spin)


def _spin() -> None:
    end = time.monotonic() + _SPIN_SECONDS
    spinners = [_spinner(end) for _ in range(_SPINNERS)]
    shares = []
    then, used = time.monotonic(), 0.0
    for _ in range(_WINDOWS):
        time.sleep(_WINDOW_SECONDS)
        now, sum_now = time.monotonic(), sum(map(_used, spinners))
        shares.append((sum_now - used) / (now - then))
        then, used = now, sum_now
    # The most of several moments: on a busy machine not every one can show what was to be had.
    tell(cores=round(max(shares), 2))
    for spinner in spinners:
        os.waitpid(spinner, 0)


def _spinner(end: float) -> int:
    child = os.fork()
    if child == 0:
        while time.monotonic() < end:
            pass
        os._exit(0)
    return child


def _used(process: int) -> float:
    """Return the seconds of processor time of a process."""
    ticks = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def sleep_over() -> None:
    """Take more than the free time, a few times."""
    from arena.sdk import run  # noqa: PLC0415 - as in play

    def hooked(view: View) -> Move:
        if view.round == MOMENT[0] and MOMENT[1] <= view.turn < MOMENT[1] + _PAUSES:
            time.sleep(_OVER_SECONDS)
            tell(pauses=view.turn - MOMENT[1] + 1)
        return choose(view)

    run(hooked, games_at_once=1)


def stop_itself() -> None:
    """Stop the process that plays, and let another wake it much later."""
    play(_stop)


def _stop() -> None:
    bot = os.getpid()
    if os.fork() == 0:
        time.sleep(_STOP_SECONDS)
        os.kill(bot, signal.SIGCONT)
        os._exit(0)
    tell(began=True)
    os.kill(bot, signal.SIGSTOP)
