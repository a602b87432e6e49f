"""Bots that start many processes or threads, or don't exit. Run in a bot's container."""

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.sandbox.hostile.bot import play, tell

_MOST: Final = 160
"""A bomb that nothing stops ends here."""

_BURNING_SECONDS: Final = 0.5
_DAEMONS: Final = 3
_DAEMON_SECONDS: Final = 30
_DAEMON: Final = f"import time; time.sleep({_DAEMON_SECONDS})  # hostile-daemon"


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
