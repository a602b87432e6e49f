"""Bots that take time. Run in a bot's container."""

import os
import signal
import time
from typing import Final

from arena.rules import Move, View
from tests.sandbox.hostile.bot import MOMENT, choose, play, tell

_SPINNERS: Final = 3
_SPIN_SECONDS: Final = 0.8
"""CPU time of each process. Together they get 0.4 cores, so that takes 8 s, or longer on a busy host."""

_MIN_SECONDS: Final = 7.0
"""gVisor counts the time in which the quota stops a process as CPU time."""

_STOP_SECONDS: Final = 40.0
"""Much longer than the three decisions that the bot is late for, 8 s in total."""

_OVER_SECONDS: Final = 5.4
"""Beyond the move time of 1 s, such a decision takes 4.4 s of the bank of 5 s, and two take 8.8 s. The first
margin is wider than what a busy host adds to the time of a decision, which is close to nothing. The second
exceeds the referee's deductions for its own pauses and for the waits of a sleeping bot's threads."""

_PAUSES: Final = 4


def spin() -> None:
    """Keep all processors busy, and don't answer meanwhile."""
    play(_spin)


def _spin() -> None:
    end, least = time.process_time() + _SPIN_SECONDS, time.monotonic() + _MIN_SECONDS
    tell(began=True)
    spinner = any(os.fork() == 0 for _ in range(_SPINNERS))  # stops at the first True, in a child
    if spinner:
        end = _SPIN_SECONDS
    while time.process_time() < end or time.monotonic() < least:
        pass
    if spinner:
        os._exit(0)


def sleep_over() -> None:
    """Exceed the move time in several decisions."""
    from arena.sdk import run  # noqa: PLC0415 - as in play

    def hooked(view: View) -> Move:
        if view.round == MOMENT[0] and MOMENT[1] <= view.turn < MOMENT[1] + _PAUSES:
            time.sleep(_OVER_SECONDS)
            tell(pauses=view.turn - MOMENT[1] + 1)
        return choose(view)

    run(hooked, games_at_once=1)


def stop_itself() -> None:
    """Stop the process that plays, and have another one wake it much later."""
    play(_stop)


def _stop() -> None:
    bot = os.getpid()
    if os.fork() == 0:
        time.sleep(_STOP_SECONDS)
        os.kill(bot, signal.SIGCONT)
        os._exit(0)
    tell(began=True)
    os.kill(bot, signal.SIGSTOP)
