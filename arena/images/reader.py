"""Repacks an untrusted archive into an image in the arena's format.

A separate process (:mod:`arena.images.archive`) reads the archive. That process has only three files open
besides its standard streams. This module verifies what that process reports: it hashes the layers again and
builds the image's configuration itself.
"""

import hashlib
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from arena.images.archive import (
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
from arena.images.image import (
    DEFAULT_LIMITS,
    BotImage,
    IntakeError,
    IntakeLimits,
    Platform,
    Rejected,
    check_command,
)
from arena.protocol.decoding import prepared

_TEXT_CHARACTERS: Final = 1_000
_EXTERNAL_SIGNALS: Final = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
"""Signals that an archive can't cause in its reader. A service manager may send them to all processes."""

_REMEDY: Final = "save the image again; if that doesn't help, report this error to the operator"


def ask_reader(job: Job) -> Repacked:
    """Read an archive in a separate process, which has ended by the time this returns or raises.

    Raises Rejected if the reader refused the archive or failed on it, or IntakeError if the reader could not
    start or continue for a reason other than the archive.
    """
    try:
        process = subprocess.Popen(
            # Isolated mode, its own session, and only these variables and files.
            [sys.executable, "-I", "-m", "arena.images.archive"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={"PATH": os.defpath, "LANG": "C.UTF-8"},
            pass_fds=(job.archive, job.scratch, job.output),
            start_new_session=True,
        )
    except OSError as error:
        raise IntakeError(f"could not start the archive reader: {error}") from error
    with process:
        try:
            output, in_time = _communicate(process, msgspec.json.encode(job), job.limits.wall_seconds)
        finally:
            process.kill()
    return _judge(output, process.returncode, job.limits, in_time=in_time)


def _communicate(process: "subprocess.Popen[bytes]", job: bytes, seconds: float) -> tuple[bytes, bool]:
    """Return everything that the process wrote, and whether it finished writing in time."""
    deadline = time.monotonic() + seconds
    if process.stdin is None or process.stdout is None:
        return b"", True
    with suppress(BrokenPipeError):
        process.stdin.write(job + b"\n")
        process.stdin.close()
    output = b""
    while len(output) <= MAX_ANSWER_BYTES:
        poll = select.poll()
        poll.register(process.stdout, select.POLLIN)
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            return output, False
        chunk = os.read(process.stdout.fileno(), MAX_ANSWER_BYTES)
        if not chunk:
            break
        output += chunk
    else:
        return output, True  # too long to be a valid answer, whatever follows
    # The process has closed its output; ignore what it does after that.
    with suppress(subprocess.TimeoutExpired):
        process.wait(max(0.0, deadline - time.monotonic()))
    return output, True


def _judge(output: bytes, code: int, limits: IntakeLimits, *, in_time: bool) -> Repacked:
    messages = _decode(output)
    if len(messages) > 1 and not isinstance(messages[1], Ready):
        return _unwrap(messages[1])
    if not in_time:
        # The limit on processor time is lower, so a reader that exceeds only the limit on wall-clock time was
        # kept waiting by the host.
        raise IntakeError(
            f"the archive was not read within {limits.wall_seconds:g} s: "
            "the host is too busy or its disk too slow; another attempt may succeed"
        )
    if not messages:
        raise IntakeError(
            f"the archive reader did not start (exit code {code}): check the arena's installation"
        )
    if code == -signal.SIGXCPU:
        raise Rejected(
            f"the archive takes more than {limits.cpu_seconds} s of processor time to read: "
            "make the image smaller, and use fewer files"
        )
    if -code in _EXTERNAL_SIGNALS:
        raise IntakeError(
            f"the archive reader was killed by another process ({signal.Signals(-code).name}): "
            "check whether the host is shutting down or out of memory"
        )
    raise Rejected(f"the archive reader crashed (exit code {code}): {_REMEDY}")


def _decode(output: bytes) -> list[FromReader]:
    try:
        return [msgspec.json.decode(line, type=prepared(FromReader)) for line in output.splitlines()]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise Rejected(f"the archive reader returned an invalid answer: {_REMEDY}") from None


def _unwrap(answer: Answer) -> Repacked:
    match answer:
        case Repacked():
            return answer
        case Refused(text):
            raise Rejected(_printable(text))
        case Stopped(text):
            raise IntakeError(f"the archive reader could not continue: {_printable(text)}")
        case Broken(text):
            error = Rejected(f"the archive reader crashed: {_REMEDY}")
            error.add_note(text)
            raise error


def _printable(text: str) -> str:
    """Return text for a page or a log, as one line without control characters."""
    return "".join(
        char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text[:_TEXT_CHARACTERS]
    )


INTAKE_UID: Final = 61_000
"""User and group of the reader when the arena runs as root. Nothing else uses this id: the site has 62000
(see deploy/Dockerfile), and referees and bots have other ids."""

_CHUNK: Final = 1024 * 1024
_BLOCK: Final = 512


def repack(
    archive: Path,  # from `docker save`, or an OCI archive; gzip or plain
    # Receives the uncompressed tars of the layers one after another, the lowest first. An existing file is
    # replaced; after an error the file doesn't exist. Its folder also holds an unnamed temporary file, which
    # may be as large as the decompressed archive.
    output: Path,
    platform: Platform,  # which of the archive's images to take
    *,
    uid: int | None,  # user and group of the reader; None if this process is not root
    limits: IntakeLimits = DEFAULT_LIMITS,  # limits on the archive and on its reader
) -> BotImage:
    """Read an archive with one image and rewrite the image's layers.

    Raises Rejected if the archive is unacceptable (the message says why and what its author can do), or
    IntakeError if the arena failed to read it; the archive may be fine.
    """
    try:
        with (
            archive.open("rb") as source,
            tempfile.TemporaryFile(dir=output.parent) as scratch,
            _create_file(output) as sink,
        ):
            size = os.fstat(source.fileno()).st_size
            if size > limits.archive_bytes:
                raise Rejected(
                    f"the archive is {size} bytes long (limit {limits.archive_bytes}): "
                    "make the image smaller, and save only one image for one platform"
                )
            repacked = ask_reader(
                Job(
                    archive=source.fileno(),
                    scratch=scratch.fileno(),
                    output=sink.fileno(),
                    platform=platform,
                    uid=uid,
                    limits=limits,
                )
            )
            return _verified_image(repacked, sink, platform, limits)
    except OSError as error:
        raise IntakeError(f"could not repack {archive} into {output}: {error}") from error


@contextmanager
def _create_file(output: Path) -> Iterator[BinaryIO]:
    """Create a file, and remove it if the block raises."""
    output.unlink(missing_ok=True)
    try:
        with output.open("x+b") as sink:
            yield sink
    except BaseException:
        output.unlink(missing_ok=True)
        raise


def _verified_image(repacked: Repacked, sink: BinaryIO, platform: Platform, limits: IntakeLimits) -> BotImage:
    """Return the image. Raises Rejected unless it matches the output and is within the limits."""
    sizes = [layer.size for layer in repacked.layers]
    if not 1 <= len(sizes) <= limits.layers or any(size < _BLOCK or size % _BLOCK for size in sizes):
        raise Rejected(f"the archive reader returned an invalid list of layers: {_REMEDY}")
    if sum(sizes) > limits.image_bytes:
        raise Rejected(
            f"the archive reader reported more than {limits.image_bytes} bytes of layers: {_REMEDY}"
        )
    if sum(sizes) != os.fstat(sink.fileno()).st_size:
        raise Rejected(
            f"the size of the archive reader's output differs from the size that it reported: {_REMEDY}"
        )
    check_command(repacked.command, limits)
    sink.seek(0)
    for layer in repacked.layers:
        if _digest(sink, layer.size) != layer.digest:
            raise Rejected(
                f"the archive reader wrote layers that differ from those that it reported: {_REMEDY}"
            )
    return BotImage(platform=platform, command=repacked.command, layers=repacked.layers)


def _digest(source: BinaryIO, size: int) -> str:
    digest = hashlib.sha256()
    while size and (chunk := source.read(min(size, _CHUNK))):
        digest.update(chunk)
        size -= len(chunk)
    return f"sha256:{digest.hexdigest()}"
