"""The process that reads an archive: it drops its privileges, repacks the image, answers and exits."""

import ctypes
import os
import resource
import signal
import sys
import traceback
from typing import Final

import msgspec

from arena.images.archive import Answer, Broken, FromReader, Job, Ready, Refused, Repacked, Stopped, formats
from arena.images.archive.formats import FoundImage, FoundLayer
from arena.images.archive.layers import LayerWriter, image_allowance
from arena.images.archive.outer import Archive, open_archive
from arena.images.archive.sources import GZIP, Gunzip, Hashed, Metered, Source, drain
from arena.images.archive.tree import Tree
from arena.images.image import ImageSettings, IntakeLimits, Layer, Rejected, command_of

_ZSTD: Final = b"\x28\xb5\x2f\xfd"


def repack_image(job: Job) -> Repacked:
    """Rewrite the layers of an archive's image.

    Raises Rejected if the archive is unacceptable, or OSError if the arena's own files can't be read or
    written.
    """
    archive = open_archive(job.archive, job.scratch, job.limits)
    found = _find(archive, job)
    # Do the quick checks first: the layers take longest.
    command = command_of(found.config.config or ImageSettings(), job.limits)
    tree = Tree(job.limits)
    with open(job.output, "wb", closefd=False, buffering=1 << 20) as sink:
        layers = _rewrite(archive, found, LayerWriter(sink, tree, job.limits), job.limits)
    tree.check_working_dir(command.working_dir)
    return Repacked(command, layers)


def _find(archive: Archive, job: Job) -> FoundImage:
    if formats.INDEX in archive:
        return formats.Search(archive, job.platform, job.limits).find_image()
    if formats.MANIFEST in archive:
        return formats.find_image(archive, job.platform, job.limits)
    raise Rejected(
        f"the archive has neither {formats.INDEX} nor {formats.MANIFEST}, so it contains no image: "
        "send the output of `docker save IMAGE`, not of `docker export`"
    )


def _rewrite(
    archive: Archive, found: FoundImage, writer: LayerWriter, limits: IntakeLimits
) -> tuple[Layer, ...]:
    allowance = image_allowance(limits)
    layers = []
    for number, layer in enumerate(found.layers, start=1):
        what = f"layer {number}"
        packed = Hashed(archive.open(layer.name))
        tar = Hashed(Metered(_decompress(archive, layer, packed, what, limits), allowance))
        layers.append(writer.write(tar, what))
        drain(tar)
        if layer.digest not in {None, packed.digest} or tar.digest != layer.diff_id:
            raise Rejected(
                f"{what} doesn't match its digest: it was damaged in transit; "
                "save the image and submit the archive again"
            )
    return tuple(layers)


def _decompress(
    archive: Archive, layer: FoundLayer, packed: Source, what: str, limits: IntakeLimits
) -> Source:
    """Return a layer's tar, ignoring its stated media type."""
    begin = archive.first_bytes(layer.name, len(_ZSTD))
    if begin == _ZSTD:
        raise Rejected(
            f"{what} is compressed with zstd: build the image with "
            "docker buildx build --output=type=docker,dest=bot.tar,compression=gzip,force-compression=true"
        )
    return Gunzip(packed, what, limits) if begin.startswith(GZIP) else packed


_PR_SET_PDEATHSIG: Final = 1
_PR_SET_NO_NEW_PRIVS: Final = 38
_MIB: Final = 1024 * 1024
_TRACE_CHARACTERS: Final = 4_000


def main() -> None:
    """Read one archive: the job arrives on stdin, the answer goes to stdout."""
    job = msgspec.json.decode(sys.stdin.buffer.readline(), type=Job)
    _confine(job)
    _say(Ready())
    _say(_answer(job))


def _confine(job: Job) -> None:
    """Drop every privilege. Import everything first: afterwards this process can't open files."""
    limits = job.limits
    libc = ctypes.CDLL(None, use_errno=True)
    if job.uid is not None:
        os.setgroups([])
        os.setresgid(job.uid, job.uid, job.uid)
        os.setresuid(job.uid, job.uid, job.uid)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    # Set this after changing the user, which clears it.
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    file_bytes = max(limits.archive_bytes, limits.image_bytes)
    # With 0, some hosts would start a program for a core dump. Only root can raise a hard limit of 0.
    core_bytes = 1 if resource.getrlimit(resource.RLIMIT_CORE)[1] else 0
    for kind, soft, hard in (
        (resource.RLIMIT_AS, limits.memory_bytes, limits.memory_bytes),
        # The hard limit is one second higher, in case the first signal doesn't end the process.
        (resource.RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1),
        (resource.RLIMIT_FSIZE, file_bytes, file_bytes),
        (resource.RLIMIT_CORE, core_bytes, core_bytes),
        (resource.RLIMIT_NPROC, 0, 0),
        # Open files stay open. A limit of zero means that no new file, socket or pipe can be opened.
        (resource.RLIMIT_NOFILE, 0, 0),
    ):
        resource.setrlimit(kind, (soft, hard))


def _answer(job: Job) -> Answer:
    try:
        return repack_image(job)
    except Rejected as refusal:
        return Refused(str(refusal))
    except MemoryError:
        return Refused(
            f"the archive takes more than {job.limits.memory_bytes // _MIB} MiB of memory to read: "
            "make the image smaller, and use fewer files"
        )
    except OSError as error:
        return Stopped(str(error))
    except Exception:  # noqa: BLE001 - report any failure to the developer
        return Broken(traceback.format_exc()[-_TRACE_CHARACTERS:])


def _say(message: FromReader) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
