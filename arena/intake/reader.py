"""The process that reads an archive, as its parent sees it."""

import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import Final

import msgspec

from arena.intake.errors import IntakeTrouble, Rejected
from arena.intake.limits import IntakeLimits
from arena.intake.messages import (
    MAX_ANSWER_BYTES,
    Answer,
    Broken,
    FromReader,
    Job,
    Ready,
    Refused,
    Repacked,
    Stopped,
)

_TEXT_CHARACTERS: Final = 1_000
_BY_OTHERS: Final = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
"""Signals that no archive can make its reader send itself; who ends a service sends them to all it has."""

_MIB: Final = 1024 * 1024


def ask_reader(job: Job) -> Repacked:
    """Have a process of its own read an archive. It is gone when this returns or raises.

    Raises:
        Rejected: It refused the archive, or could not cope with it.
        IntakeTrouble: It could not be started, or not go on, and the archive is not to blame.
    """
    try:
        process = subprocess.Popen(
            # Isolated mode, its own session, no variables but these, no files but these.
            [sys.executable, "-I", "-m", "arena.intake"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={"PATH": os.defpath, "LANG": "C.UTF-8"},
            pass_fds=(job.archive, job.scratch, job.output),
            start_new_session=True,
        )
    except OSError as error:
        raise IntakeTrouble(f"could not start the reader of archives: {error}") from error
    with process:
        try:
            said, in_time = _converse(process, msgspec.json.encode(job), job.limits.wall_seconds)
        finally:
            process.kill()
    return _judge(said, process.returncode, job.limits, in_time=in_time)


def _converse(process: "subprocess.Popen[bytes]", job: bytes, seconds: float) -> tuple[bytes, bool]:
    """Return what the process says until it ends, and whether it ended in time."""
    deadline = time.monotonic() + seconds
    if process.stdin is None or process.stdout is None:
        return b"", True
    with suppress(BrokenPipeError):
        process.stdin.write(job + b"\n")
        process.stdin.close()
    said = b""
    while len(said) <= MAX_ANSWER_BYTES:
        poll = select.poll()
        poll.register(process.stdout, select.POLLIN)
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            return said, False
        chunk = os.read(process.stdout.fileno(), MAX_ANSWER_BYTES)
        if not chunk:
            break
        said += chunk
    # It has closed its output or said too much; what it may still do is of no interest.
    with suppress(subprocess.TimeoutExpired):
        process.wait(max(0.0, deadline - time.monotonic()))
    return said, True


def _judge(said: bytes, code: int, limits: IntakeLimits, *, in_time: bool) -> Repacked:
    messages = _decode(said)
    if len(messages) > 1 and not isinstance(messages[1], Ready):
        return _heed(messages[1])
    if not in_time:
        # Processor time has its own, lower limit. Who is over this one without that waited for the host.
        raise IntakeTrouble(
            f"the archive was not read within {limits.wall_seconds:g} s: "
            "the host is too busy or its disk too slow; send it again later"
        )
    if not messages:
        raise IntakeTrouble(f"the reader of archives did not start (exit code {code})")
    if code == -signal.SIGXCPU:
        raise Rejected(
            f"the archive takes more than {limits.cpu_seconds} s of processor time to read: "
            "make the image smaller, with fewer files"
        )
    if -code in _BY_OTHERS:
        raise IntakeTrouble(
            f"the reader of archives was killed by somebody else ({signal.Signals(-code).name}): "
            "does the host shut down, or is it out of memory?"
        )
    raise Rejected(f"the archive's reader broke down on it (exit code {code}): save the image again")


def _decode(said: bytes) -> list[FromReader]:
    try:
        return [msgspec.json.decode(line, type=FromReader) for line in said.splitlines()]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise Rejected("the archive's reader gave no proper answer: save the image again") from None


def _heed(answer: Answer) -> Repacked:
    match answer:
        case Repacked():
            return answer
        case Refused(text):
            raise Rejected(_plain(text))
        case Stopped(text):
            raise IntakeTrouble(f"the reader of archives could not go on: {_plain(text)}")
        case Broken(text):
            error = Rejected(
                "the archive's reader broke down on it: save the image again, and tell the operator"
            )
            error.add_note(text)
            raise error


def _plain(text: str) -> str:
    """Return a text fit for a page and a log: of one line, without control characters."""
    return "".join(
        sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text[:_TEXT_CHARACTERS]
    )
