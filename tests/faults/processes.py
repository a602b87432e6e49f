"""Finds the processes that an arena starts, kills or stops them together, and looks for leftovers."""

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PR_SET_CHILD_SUBREAPER: Final = 36
_POLL_SECONDS: Final = 0.02
LONGEST_POLL_SECONDS: Final = 0.1
_BURY_SECONDS: Final = 0.5

Popen = subprocess.Popen[bytes]


@dataclass(frozen=True, slots=True)
class Process:
    """A process."""

    pid: int
    parent: int  # the parent's pid
    command: str  # words separated by spaces; empty for a zombie

    @property
    def is_referee(self) -> bool:
        """Whether it is a referee."""
        return "arena.play.referee" in self.command

    @property
    def is_arenas(self) -> bool:
        """Whether it is an arena's coordinator, referee, bot or archive reader."""
        return self.is_referee or any(
            word in self.command for word in ("arena coordinator", "process/entry.py", "arena.images.archive")
        )

    def kill(self) -> None:
        """Kill the process with SIGKILL, if it still exists."""
        self.signal(signal.SIGKILL)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process, if it still exists."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)


@contextmanager
def orphans_come_here() -> Iterator[None]:
    """Make this process the parent of all orphaned descendants, so that :func:`below` finds them."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def below(pid: int) -> list[Process]:
    """Return all descendants of a process, without itself."""
    known: dict[int, list[Process]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            _, _, rest = (folder / "stat").read_text(errors="replace").rpartition(")")
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            process = Process(int(folder.name), int(rest.split()[1]), command)
            known.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    next_ones = [pid]
    while next_ones:
        children = known.get(next_ones.pop(), [])
        found += children
        next_ones += [child.pid for child in children]
    return found


def kill_tree(pid: int) -> None:
    """Kill a process and its descendants, as nearly at the same moment as possible."""
    tree = below(pid)
    for process in (Process(pid, 0, ""), *tree):
        process.kill()


def stop_tree(pid: int, seconds: float) -> None:
    """Stop a process and its descendants for some seconds, as if their host were paused."""
    root = Process(pid, 0, "")
    root.signal(signal.SIGSTOP)  # before it can start another one
    tree = below(pid)
    try:
        for process in tree:
            process.signal(signal.SIGSTOP)
        time.sleep(seconds)
    finally:
        for process in (root, *tree):
            process.signal(signal.SIGCONT)


def waited_for_a_processor(pid: int) -> float:
    """Return for how many seconds a process's main thread was ready to run but had no processor."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    return 0.0


_begun: set[int] = set()
"""Processes that this one has started, and which their ``Popen`` reaps."""


def begin(words: Sequence[str], log: Path, environment: Mapping[str, str] | None = None) -> Popen:
    """Start a program whose output is appended to a log."""
    with log.open("ab") as output:
        process = subprocess.Popen(  # noqa: S603 - tests' own words
            words, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment
        )
    _begun.add(process.pid)
    return process


def bury() -> None:
    """Reap orphans that have ended, since some programs wait until they are gone."""
    for process in below(os.getpid()):
        if is_orphan(process):
            with suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)


def is_orphan(process: Process) -> bool:
    """Return True for an orphan of this process that has ended and was not reaped."""
    return process.parent == os.getpid() and not process.command and process.pid not in _begun


def left_of_arenas() -> list[Process]:
    """Return the running processes of arenas that this process has started."""
    bury()
    return [process for process in below(os.getpid()) if process.is_arenas]


def wait_until(condition: Callable[[], bool], seconds: float, what: str) -> float:
    """Wait for a condition, and return how long it took in seconds.

    Raises TimeoutError, with ``what``, if the condition doesn't become true in time.
    """
    begun = buried = time.monotonic()
    pause = _POLL_SECONDS
    while not condition():
        now = time.monotonic()
        if now - begun > seconds:
            raise TimeoutError(f"{what} (waited {seconds:.0f} s)")
        if now - buried > _BURY_SECONDS:
            bury()
            buried = now
        time.sleep(pause)
        pause = min(1.1 * pause, LONGEST_POLL_SECONDS)
    return time.monotonic() - begun
