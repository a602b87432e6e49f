"""Bots that start many processes or threads, or don't exit. Run in a bot's container."""

import ctypes
import os
import select
import signal
import struct
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.sandbox.hostile.bot import play, tell

_MOST: Final = 160
"""Number of processes or threads at which a bomb stops if nothing else stops it."""

_BURNING_SECONDS: Final = 0.5
_DAEMONS: Final = 3
_DAEMON_SECONDS: Final = 500
"""Longer than a match and the wait for what remains of it."""

_DAEMON: Final = f"import time; time.sleep({_DAEMON_SECONDS})  # hostile-daemon"

_INIT: Final = 1
_LOWEST: Final = 19

_WAKERS: Final = 20
_EPOLLS_EACH: Final = 200
_TIMERS: Final = 16
_ROUNDS: Final = 10
_AHEAD_SECONDS: Final = 0.05
_LATE_SECONDS: Final = 0.005


def wake_in_interrupts() -> None:
    """Let thousands of epolls watch timers that expire together, and report how long their interrupts take.

    The kernel wakes each epoll in the interrupt, and charges the time to the process that it interrupts.
    """
    late: list[str] = []
    tell(late=late)  # under gVisor, the epolls may use up the sandbox's memory, which ends this bot
    with suppress(OSError):
        late = [f"{1000 * seconds:.0f} ms" for seconds in _interrupted() if seconds > _LATE_SECONDS]
    tell(late=late)
    play()


def _interrupted() -> list[float]:
    """Return, for each round, by how many seconds a sleep until the timers' expiry was late."""
    libc = ctypes.CDLL(None, use_errno=True)
    timers = [libc.timerfd_create(time.CLOCK_MONOTONIC, os.O_NONBLOCK) for _ in range(_TIMERS)]
    if min(timers) < 0:
        raise OSError(ctypes.get_errno(), "timerfd_create")
    ready, is_ready = os.pipe()
    wakers = []
    for _ in range(_WAKERS):
        if (waker := os.fork()) == 0:
            epolls = [select.epoll() for _ in range(_EPOLLS_EACH)]
            for each in epolls:
                for timer in timers:
                    each.register(timer, select.EPOLLIN)
            os.write(is_ready, b"!")
            signal.pause()
        wakers.append(waker)
    try:
        for _ in wakers:
            os.read(ready, 1)
        return [_round(libc, timers) for _ in range(_ROUNDS)]
    finally:
        for waker in wakers:
            os.kill(waker, signal.SIGKILL)
            os.waitpid(waker, 0)


def _round(libc: ctypes.CDLL, timers: list[int]) -> float:
    end = time.monotonic() + _AHEAD_SECONDS
    moment = struct.pack("qqqq", 0, 0, int(end), int(end % 1 * 1e9))
    for timer in timers:
        if libc.timerfd_settime(timer, 1, moment, None) < 0:  # TFD_TIMER_ABSTIME
            raise OSError(ctypes.get_errno(), "timerfd_settime")
    time.sleep(max(0.0, end - time.monotonic()))
    return time.monotonic() - end


def fork_bomb() -> None:
    """Fork, and make every child fork too, until the kernel refuses."""
    # gRPC may fail if its process forks. So the bomb's process starts earlier, and goes off in the game.
    fuse, spark = os.pipe()
    bomb = os.fork()
    if bomb == 0:
        os.close(spark)
        os.read(fuse, 1)
        _fork_bomb()
        os._exit(0)

    def ignite() -> None:
        os.write(spark, b"!")
        os.waitpid(bomb, 0)

    play(ignite)


def _fork_bomb() -> None:
    tell(began=True)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    permits, permit = os.pipe()
    os.write(permit, bytes(_MOST))
    os.set_blocking(permits, False)
    ending, end = os.pipe()
    child = False
    try:
        # EAGAIN has two causes: no process may be started, or no permit is left.
        with suppress(BlockingIOError):
            while os.read(permits, 1):
                if os.fork() == 0 and not child:
                    child = True
                    os.close(end)
        if child:
            os.read(ending, 1)  # until the bomb's first process has closed the other end
    finally:
        if child:
            os._exit(0)
    time.sleep(_BURNING_SECONDS)
    tell(processes=_count("/proc"))
    os.close(end)


def thread_bomb() -> None:
    """Start threads until the kernel refuses."""
    play(_thread_bomb)


def _thread_bomb() -> None:
    tell(began=True)
    end = threading.Event()
    threads = [threading.Thread(target=end.wait) for _ in range(_MOST)]
    with suppress(RuntimeError):
        for thread in threads:
            thread.start()
    time.sleep(_BURNING_SECONDS)
    tell(threads=_count("/proc/self/task"))
    end.set()
    for thread in threads:
        if thread.ident is not None:
            thread.join()


def _count(folder: str) -> int:
    return sum(path.name.isdigit() for path in Path(folder).iterdir())


def lower_the_init() -> None:
    """Give the init the lowest priority: among many busy processes, it would notice its deadline too late."""
    kinds = {"process": os.PRIO_PROCESS, "group": os.PRIO_PGRP}
    lowered = []
    for name, kind in kinds.items():
        with suppress(OSError):
            os.setpriority(kind, _INIT, _LOWEST)
            lowered.append(f"priority of its {name}")
    os.setpriority(os.PRIO_PROCESS, 0, _LOWEST)  # a bot may lower its own
    tell(lowered=lowered)
    play()


def leave_daemons() -> None:
    """Start detached processes that ignore signals. The bot doesn't exit with the match either."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    # Before gRPC starts threads, and before the SDK makes SIGTERM end the process.
    for _ in range(_DAEMONS):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                # A command line unlike the bot's own. Ignored signals stay ignored.
                os.execv(sys.executable, ["python3", "-c", _DAEMON])  # noqa: S606 - on purpose
            os._exit(0)
        os.wait()
    tell(daemons=_DAEMONS)
    with suppress(SystemExit):
        play()
    time.sleep(_DAEMON_SECONDS)
