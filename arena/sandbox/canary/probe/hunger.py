"""The probe's attempts that end its container: take memory, fork, compute, stay."""

import os
import signal
import time
from typing import Final, NoReturn

from .attempts import MIB, attempt, tell

_STEP: Final = 8 * MIB


def memory(limits: dict[str, int]) -> None:
    """Take memory, page by page."""
    hoard: list[bytes] = []
    while len(hoard) * _STEP < 2 * limits["memory_bytes"]:
        hoard.append(b"x" * _STEP)
        tell({"bytes": len(hoard) * _STEP})


def processes(limits: dict[str, int]) -> None:
    """Fork until it is refused."""
    count = 1
    while count < 2 * limits["processes"] and attempt(_fork_a_sleeper) == "done":
        count += 1
        tell({"processes": count})


def _fork_a_sleeper() -> None:
    if os.fork() == 0:
        signal.pause()


def cpu(_: dict[str, int]) -> NoReturn:
    """Compute in as many processes as there are processors, and for ever."""
    for _other in range(len(os.sched_getaffinity(0)) - 1):
        if os.fork() == 0:
            break
    while True:
        pass


def deadline(_: dict[str, int]) -> NoReturn:
    """Stay, in a child too, whatever signal comes."""
    os.fork()
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
        attempt(signal.signal, number, signal.SIG_IGN)
    while True:
        time.sleep(60)
