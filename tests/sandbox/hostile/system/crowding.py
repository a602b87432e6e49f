"""Bots that multiply, and bots that do not end. Run in a bot's container."""

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.sandbox.hostile.bot import play, tell

_MOST: Final = 250
"""Where nothing stops a bomb, it stops here."""

_BURNING_SECONDS: Final = 0.5
_DAEMONS: Final = 3
_DAEMON_SECONDS: Final = 30
_DAEMON: Final = f"import time; time.sleep({_DAEMON_SECONDS})  # hostile-daemon"


def fork_bomb() -> None:
    """Fork, and let every child fork too, until it is refused."""
    # gRPC minds forks of the process it is used in. So the bomb is laid before, and only set off in the game.
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
        # Both are answered with EAGAIN: a process that may not be, and a permit that is not there.
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
    """Start threads until it is refused."""
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


def leave_daemons() -> None:
    """Start processes that belong to nobody and heed no signal, and do not end with the match either."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    # Before gRPC's threads are there; the bot's SDK would end the bot at SIGTERM.
    for _ in range(_DAEMONS):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                # A command that can be told from the bot's own; what is ignored stays ignored.
                os.execv(sys.executable, ["python3", "-c", _DAEMON])  # noqa: S606 - as meant
            os._exit(0)
        os.wait()
    tell(daemons=_DAEMONS)
    with suppress(SystemExit):
        play()
    time.sleep(_DAEMON_SECONDS)
