"""Runs bots as plain child processes, without any isolation: use this runtime only for your own bots."""

import glob
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Final

import arena
from arena.platform.cpu_time import CpuFiles
from arena.platform.environment import REFEREE_VARIABLE
from arena.protocol.match import Limits
from arena.protocol.sandbox_controls import HostReport
from arena.sandbox.runtime import (
    INSTALL_LABEL,
    SOCKET_NAME,
    CanaryParts,
    Capture,
    Exit,
    LaunchRefused,
    RuntimeFailure,
    SandboxSpec,
)

_CHUNK: Final = 64 * 1024
_SIGNALLED: Final = 128
_STDERR_SECONDS: Final = 2.0
"""Maximum wait for the rest of an ended process's stderr, which a grandchild may keep open."""


class ProcessSandbox:
    """A running process group; see :class:`arena.sandbox.runtime.Sandbox`.

    The process is the group's leader, and has a pipe for its stderr. Once it has ended, it stays a zombie
    until ``remove``, so its id can't be reused and a kill always hits this group. ``remove`` also removes
    ``home`` and closes ``lifeline``.
    """

    limits = ("none: the process runtime provides no isolation",)

    def __init__(self, process: subprocess.Popen[bytes], home: Path, lifeline: int) -> None:
        self.cpu = CpuFiles(threads=f"/proc/{process.pid}/task")  # there is no control group
        self._process = process
        self._home = home
        self._lifeline = lifeline
        self._lock = threading.Lock()
        self._removed = False
        self._capture = Capture()
        self._reader = threading.Thread(target=self._read, name="bot-stderr", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        if self._process.stderr is None:
            return
        with self._process.stderr as stream:
            while data := os.read(stream.fileno(), _CHUNK):
                self._capture.feed(data)

    def wait(self) -> Exit:
        """Wait for the process to end, and return how it ended."""
        try:
            ended = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        except ChildProcessError:  # removed by another thread
            ended = None
        self._reader.join(_STDERR_SECONDS)
        if ended is not None:
            return Exit(ended.si_status if ended.si_code == os.CLD_EXITED else _SIGNALLED + ended.si_status)
        with self._lock:
            code = self._process.wait()
        return Exit(code if code >= 0 else _SIGNALLED - code)

    def check_untouched(self) -> None:
        """Do nothing: nothing records why a process ended."""

    def remove(self) -> None:
        """End the process group and remove its home folder."""
        with self._lock:
            if self._removed:
                return
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._removed = True
            os.close(self._lifeline)
            shutil.rmtree(self._home, ignore_errors=True)
        self._reader.join(_STDERR_SECONDS)

    def stderr(self) -> str:
        """Return the head and the tail of the process's stderr so far."""
        return self._capture.text()


BOT_FILE: Final = "bot.py"
"""The file in a bot's folder that is run."""

_ENTRY: Final = Path(__file__).with_name("entry.py")


class ProcessRuntime:
    """Runs each bot as a child process. A source is a bot's folder.

    ``commands`` maps the names of additional sources to commands, which run in the current folder.
    """

    describe = "process (no isolation)"
    isolates = False

    def __init__(self, commands: Mapping[str, Sequence[str]] | None = None) -> None:
        self._commands = commands or {}

    def common_group(self, limits: Limits, slots: int) -> "_NoGroup":  # noqa: ARG002 - nothing is limited
        """Return a group that does nothing."""
        return _NoGroup()

    def examine(
        self,
        canary: Callable[[], CanaryParts],  # noqa: ARG002 - there are no controls to test
        limits: Limits,  # noqa: ARG002 - as above
        slots: int,  # noqa: ARG002 - as above
        now: Callable[[], datetime],
    ) -> HostReport:
        """Report that there are no controls."""
        return HostReport(
            host=socket.gethostname(),
            isolates=False,
            runtime=self.describe,
            engine="",
            cgroup="",
            checked=now(),
            findings=(),
            warnings=(),
        )

    def unavailable_reason(self) -> str | None:
        """Return None: there is no engine that could fail."""
        return None

    def has_source(self, source: str) -> bool:
        """Return True if the source is a folder with a ``bot.py``, or the name of a command."""
        return source in self._commands or (Path(source) / BOT_FILE).is_file()

    def is_missing(self, source: str) -> bool:
        """Return True unless :meth:`has_source` does."""
        return not self.has_source(source)

    def check_source(self, source: str) -> None:
        """Check that the source can be run. Raises LaunchRefused if it can't."""
        if not self.has_source(source):
            raise LaunchRefused(f"there is no {BOT_FILE} in {source}; a bot's folder must contain one")

    def launch(self, spec: SandboxSpec) -> ProcessSandbox:
        """Start a bot's process."""
        self.check_source(spec.source)
        prefix = f"{_home_prefix(spec.labels[INSTALL_LABEL])}{spec.name}."
        with ExitStack() as undo:
            try:
                home = Path(tempfile.mkdtemp(prefix=prefix))
                undo.callback(shutil.rmtree, home, ignore_errors=True)
                lifeline, launcher_end = os.pipe()
                undo.callback(os.close, launcher_end)
                process = self._start(spec, home, lifeline)
            except OSError as error:
                raise RuntimeFailure(f"could not start a process for {spec.name}: {error}") from error
            sandbox = ProcessSandbox(process, home, launcher_end)
            undo.pop_all()
        return sandbox

    def _start(self, spec: SandboxSpec, home: Path, lifeline: int) -> subprocess.Popen[bytes]:
        command = self._commands.get(spec.source)
        folder = Path.cwd() if command else Path(spec.source).resolve()
        program = ["--", *command] if command else [str(folder / BOT_FILE)]
        try:
            return subprocess.Popen(  # noqa: S603 - the bot and this Python are the operator's own
                [sys.executable, str(_ENTRY), str(lifeline), str(spec.deadline_seconds), *program],
                cwd=folder,
                env=_environment(spec, home),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(lifeline,),
                start_new_session=True,
            )
        finally:
            os.close(lifeline)  # the process has its own copy

    def sweep(self, install: str, is_in_use: Callable[[str], bool] = lambda _: False) -> int:
        """Remove the home folders of processes that died with their launcher, and return their number."""
        found = list(Path(tempfile.gettempdir()).glob(f"{glob.escape(_home_prefix(install))}*"))
        homes = [home for home in found if not is_in_use(home.name.split(".")[2])]
        for home in homes:
            shutil.rmtree(home, ignore_errors=True)
        return len(homes)

    def prune_images(self) -> None:
        """Do nothing: processes have no images."""

    def close(self) -> None:
        """Do nothing: there are no connections."""


class _NoGroup:
    """A :class:`arena.sandbox.runtime.BotsGroup` that does nothing: processes have no control group."""

    exists = False

    def apply(self) -> None:
        """Do nothing."""

    def remove(self) -> None:
        """Do nothing."""


def _home_prefix(install: str) -> str:
    return f"kaiten.{install}."


def _environment(spec: SandboxSpec, home: Path) -> dict[str, str]:
    return {
        REFEREE_VARIABLE: f"unix://{spec.socket_dir / SOCKET_NAME}",
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "TMPDIR": str(home),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(Path(arena.__path__[0]).parent),  # arena.sdk from this installation
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",  # don't write into a bot's folder
    }
