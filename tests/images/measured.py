"""A server that repacks archives in small processes, to measure the reader's memory and time.

``python -m tests.images.measured`` reads a :class:`Task` per line from standard input, and writes an
:class:`Outcome` per line to standard output. Each archive is repacked in a fork whose only child is the
reader, so the resource usage of the fork's children is the reader's. The memory of a new process starts
at its parent's, which is small here.
"""

import atexit
import os
import resource
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import msgspec

from arena.images.image import DEFAULT_LIMITS, BotImage, IntakeError, IntakeLimits, Platform, Rejected
from arena.images.reader import INTAKE_UID, repack

ROOT = Path(__file__).parents[2]


class Task(msgspec.Struct, frozen=True):
    """An archive to repack."""

    archive: str
    output: str
    platform: Platform
    limits: IntakeLimits


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The result of repacking, with the resources used."""

    image: BotImage | None = None  # if it was accepted
    refusal: str | None = None  # if it was rejected: the text for its owner
    trouble: str | None = None  # if the arena was at fault
    notes: list[str] = []  # what would be logged for the arena's maintainers
    seconds: float  # elapsed time, including the start of the reader
    cpu_seconds: float  # the reader's processor time
    memory_kib: int  # the reader's maximum resident set size


def measure(
    archive: Path, output: Path, platform: Platform, limits: IntakeLimits = DEFAULT_LIMITS
) -> Outcome:
    """Repack an archive in another process."""
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(msgspec.json.encode(Task(str(archive), str(output), platform, limits)) + b"\n")
    server.stdin.flush()
    return msgspec.json.decode(server.stdout.readline(), type=Outcome)


@cache
def _server() -> "subprocess.Popen[bytes]":
    """Start the process that forks. It exits when its input ends."""
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.images.measured"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    atexit.register(_end, server)
    return server


def _end(server: "subprocess.Popen[bytes]") -> None:
    with server:
        pass


def main() -> None:
    """Fork a process for each task."""
    for task in sys.stdin.buffer:
        pid = os.fork()
        if pid == 0:
            try:
                _measure(msgspec.json.decode(task, type=Task))
            finally:
                os._exit(0)
        os.waitpid(pid, 0)


def _measure(task: Task) -> None:
    """Repack one archive, and write the outcome."""
    begin = time.monotonic()
    image = refusal = trouble = None
    notes: list[str] = []
    try:
        uid = INTAKE_UID if os.geteuid() == 0 else None
        image = repack(Path(task.archive), Path(task.output), task.platform, uid=uid, limits=task.limits)
    except Rejected as error:
        refusal, notes = str(error), getattr(error, "__notes__", [])
    except IntakeError as error:
        trouble = str(error)
    reader = resource.getrusage(resource.RUSAGE_CHILDREN)
    outcome = Outcome(
        image=image,
        refusal=refusal,
        trouble=trouble,
        notes=notes,
        seconds=time.monotonic() - begin,
        cpu_seconds=reader.ru_utime + reader.ru_stime,
        memory_kib=reader.ru_maxrss,
    )
    sys.stdout.buffer.write(msgspec.json.encode(outcome) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
