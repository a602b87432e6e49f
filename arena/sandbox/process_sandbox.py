"""One bot's process."""

import os
import shutil
import signal
import subprocess
import threading
from pathlib import Path
from typing import Final

from arena.sandbox.capture import Capture
from arena.sandbox.runtime import Exit

_CHUNK: Final = 64 * 1024
_SIGNALLED: Final = 128
_LAST_WORDS_SECONDS: Final = 2.0
"""How long the rest of the stderr of a process that ended is waited for: a grandchild may hold it open."""


class ProcessSandbox:
    """A running process group. Each method as in :class:`arena.sandbox.runtime.Sandbox`.

    Its leader stays a zombie until ``remove``. So its number can't pass to someone
    else, and a kill always meets this group.

    Args:
        process: Leader of a session of its own, with a pipe for its stderr.
        home: Its home folder, removed with it.
        lifeline: Descriptor that is closed when it is removed.
    """

    def __init__(self, process: subprocess.Popen[bytes], home: Path, lifeline: int) -> None:
        self._process = process
        self._home = home
        self._lifeline = lifeline
        self._lock = threading.Lock()
        self._removed = False
        self._capture = Capture()
        self._reader = threading.Thread(target=self._read, name="bot-stderr", daemon=True)
        self._reader.start()

    @property
    def limits(self) -> tuple[str, ...]:
        """What holds it: nothing."""
        return ("none: process runtime isolates nothing",)

    def _read(self) -> None:
        if self._process.stderr is None:
            return
        with self._process.stderr as stream:
            while data := os.read(stream.fileno(), _CHUNK):
                self._capture.feed(data)

    def wait(self) -> Exit:
        """Return how it ended, after it has."""
        try:
            ended = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        except ChildProcessError:  # removed meanwhile
            ended = None
        self._reader.join(_LAST_WORDS_SECONDS)
        if ended is not None:
            return Exit(ended.si_status if ended.si_code == os.CLD_EXITED else _SIGNALLED + ended.si_status)
        with self._lock:
            code = self._process.wait()
        return Exit(code if code >= 0 else _SIGNALLED - code)

    def remove(self) -> None:
        """End it, and remove its home folder."""
        with self._lock:
            if self._removed:
                return
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._removed = True
            os.close(self._lifeline)
            shutil.rmtree(self._home, ignore_errors=True)
        self._reader.join(_LAST_WORDS_SECONDS)

    def stderr(self) -> str:
        """Return the head and the tail of its stderr so far."""
        return self._capture.text()
