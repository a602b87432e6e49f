"""The processes that an arena starts: found, killed all together, and looked for when it has ended."""

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
_LONGEST_POLL_SECONDS: Final = 0.1
_BURY_SECONDS: Final = 0.5

Popen = subprocess.Popen[bytes]


@dataclass(frozen=True, slots=True)
class Process:
    """A process."""

    pid: int  # its number
    parent: int  # that of its parent
    command: str  # its words, with spaces between; empty where it has ended and nobody has asked how

    @property
    def is_referee(self) -> bool:
        """Whether it plays a match."""
        return "arena.play.referee" in self.command

    @property
    def is_arenas(self) -> bool:
        """Whether an arena, a referee or a bot runs in it."""
        return self.is_referee or any(
            word in self.command for word in ("arena coordinator", "process/entry.py", "arena.images.archive")
        )

    def kill(self) -> None:
        """End it, as ``kill -9`` does, if it is still there."""
        self.signal(signal.SIGKILL)

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, if it is still there."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)


@contextmanager
def orphans_come_here() -> Iterator[None]:
    """Become the parent of anyone who loses theirs, so that nobody is out of sight."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def below(pid: int) -> list[Process]:
    """Return all that descend from a process, itself left out."""
    known: dict[int, list[Process]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            _, _, rest = (folder / "stat").read_text().rpartition(")")
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
    """End a process and all that it has started, all in the same moment, as far as that can be."""
    tree = below(pid)
    for process in (Process(pid, 0, ""), *tree):
        process.kill()


def stop_tree(pid: int, seconds: float) -> None:
    """Let a process and all that it has started stand still for so long, as a host does that is paused."""
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
    """Return how many seconds the main thread of a process could have gone on and was not let."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    return 0.0


_begun: set[int] = set()
"""Processes that this one has started itself, after which it asks itself."""


def begin(words: Sequence[str], log: Path, environment: Mapping[str, str] | None = None) -> Popen:
    """Start a program that writes into a log."""
    with log.open("ab") as output:
        process = subprocess.Popen(  # noqa: S603 - tests' own words
            words, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment
        )
    _begun.add(process.pid)
    return process


def bury() -> None:
    """Ask after orphans that have ended, so that they go for good: others wait for that."""
    for process in below(os.getpid()):
        if is_orphan(process):
            with suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)


def is_orphan(process: Process) -> bool:
    """Tell whether a process has ended, has come here, and nobody has asked how it ended."""
    return process.parent == os.getpid() and not process.command and process.pid not in _begun


def left_of_arenas() -> list[Process]:
    """Return what still runs of the arenas that this process has started."""
    bury()
    return [process for process in below(os.getpid()) if process.is_arenas]


def wait_until(condition: Callable[[], bool], seconds: float, what: str) -> float:
    """Wait for something, and return how long it took.

    Raises TimeoutError if it did not come in this many seconds.
    """
    begun = buried = time.monotonic()
    pause = _POLL_SECONDS
    while not condition():
        now = time.monotonic()
        if now - begun > seconds:
            raise TimeoutError(f"{what}: not within {seconds:.0f} s")
        if now - buried > _BURY_SECONDS:
            bury()
            buried = now
        time.sleep(pause)
        pause = min(1.1 * pause, _LONGEST_POLL_SECONDS)
    return time.monotonic() - begun
