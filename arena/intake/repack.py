"""Makes an image of the arena's own out of an archive that a stranger sent.

The archive is read by a process of its own (:mod:`arena.intake.archive`), which holds nothing but three open
files. What that process says is believed only as far as it can be checked here: its layers are hashed again,
and the image's configuration is made from them here.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from arena.intake.command import check_command
from arena.intake.errors import IntakeTrouble, Rejected
from arena.intake.image import BotImage, Platform
from arena.intake.limits import DEFAULT_LIMITS, IntakeLimits
from arena.intake.messages import Job, Repacked
from arena.intake.reader import ask_reader

INTAKE_UID: Final = 61_000
"""User and group of the reading process where the arena runs as root. Nobody else's: not the site's, which is
62000 in deploy/Dockerfile, nor a referee's or a bot's."""

_CHUNK: Final = 1024 * 1024
_BLOCK: Final = 512


def repack(
    archive: Path,
    output: Path,
    platform: Platform,
    *,
    uid: int | None,
    limits: IntakeLimits = DEFAULT_LIMITS,
) -> BotImage:
    """Read an archive with one image and write the image's layers anew.

    Args:
        archive: What ``docker save`` wrote, or an OCI archive; gzip or plain.
        output: Where the layers go: their uncompressed tars one after another, the lowest first, so that each
            begins where the sizes of those before it end. Overwritten; does not exist if this raises. A
            second file without a name, within the limit on archives, is beside it for a while.
        platform: Which of an archive's images to take.
        uid: User and group that reads; None where this process is not root.
        limits: On the archive and on its reader.

    Returns:
        The image, whose layers are in ``output``.

    Raises:
        Rejected: The archive can't be taken; the text says why and what its owner can do.
        IntakeTrouble: The arena could not read it; nothing is said about the archive.
    """
    try:
        with (
            archive.open("rb") as source,
            tempfile.TemporaryFile(dir=output.parent) as scratch,
            _created(output) as sink,
        ):
            _check_size(os.fstat(source.fileno()).st_size, limits)
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
            return _believe(repacked, sink, platform, limits)
    except OSError as error:
        raise IntakeTrouble(f"could not repack {archive} into {output}: {error}") from error


@contextmanager
def _created(output: Path) -> Iterator[BinaryIO]:
    """Give a new file, which stays only if nothing is raised."""
    output.unlink(missing_ok=True)
    try:
        with output.open("x+b") as sink:
            yield sink
    except BaseException:
        output.unlink(missing_ok=True)
        raise


def _check_size(size: int, limits: IntakeLimits) -> None:
    if size > limits.archive_bytes:
        raise Rejected(
            f"the archive has {size} bytes, more than the {limits.archive_bytes} that are taken: "
            "make the image smaller, and save one image for one platform"
        )


def _believe(repacked: Repacked, sink: BinaryIO, platform: Platform, limits: IntakeLimits) -> BotImage:
    """Return the image if it is what the output holds, and within its limits."""
    sizes = [layer.size for layer in repacked.layers]
    if not 1 <= len(sizes) <= limits.layers or any(size < _BLOCK or size % _BLOCK for size in sizes):
        raise Rejected("the archive's reader gave no proper list of layers")
    if sum(sizes) != os.fstat(sink.fileno()).st_size or sum(sizes) > limits.image_bytes:
        raise Rejected("the archive's reader wrote more or less than it said")
    check_command(repacked.command, limits)
    sink.seek(0)
    for layer in repacked.layers:
        if _digest(sink, layer.size) != layer.digest:
            raise Rejected("the archive's reader wrote other layers than it said")
    return BotImage(platform=platform, command=repacked.command, layers=repacked.layers)


def _digest(source: BinaryIO, size: int) -> str:
    digest = hashlib.sha256()
    while size and (chunk := source.read(min(size, _CHUNK))):
        digest.update(chunk)
        size -= len(chunk)
    return f"sha256:{digest.hexdigest()}"
