"""From an archive to the layers of its image and the words that start it."""

from typing import Final

from arena.intake.archive import docker, oci
from arena.intake.archive.found import FoundImage, FoundLayer
from arena.intake.archive.layers import LayerWriter, image_allowance
from arena.intake.archive.outer import Archive, open_archive
from arena.intake.archive.sources import GZIP, Gunzip, Hashed, Metered, Source, drain
from arena.intake.archive.tree import Tree
from arena.intake.command import Settings, kept
from arena.intake.errors import Rejected
from arena.intake.image import Layer
from arena.intake.limits import IntakeLimits
from arena.intake.messages import Job, Repacked

_ZSTD: Final = b"\x28\xb5\x2f\xfd"


def repack_image(job: Job) -> Repacked:
    """Write the layers of an archive's image anew.

    Raises:
        Rejected: It can't be taken.
        OSError: The arena's own files can't be read or written.
    """
    archive = open_archive(job.archive, job.scratch, job.limits)
    found = _find(archive, job)
    # What is quickly said comes first: the layers take longest.
    command = kept(found.config.config or Settings(), job.limits)
    tree = Tree(job.limits)
    with open(job.output, "wb", closefd=False, buffering=1 << 20) as sink:
        layers = _rewrite(archive, found, LayerWriter(sink, tree, job.limits), job.limits)
    tree.check_working_dir(command.working_dir)
    return Repacked(command, layers)


def _find(archive: Archive, job: Job) -> FoundImage:
    if oci.INDEX in archive:
        return oci.Search(archive, job.platform, job.limits).find_image()
    if docker.MANIFEST in archive:
        return docker.find_image(archive, job.platform, job.limits)
    raise Rejected(
        f"the archive has neither {oci.INDEX} nor {docker.MANIFEST} in it, so it is none of an image: "
        "send what `docker save IMAGE` writes, not `docker export`"
    )


def _rewrite(
    archive: Archive, found: FoundImage, writer: LayerWriter, limits: IntakeLimits
) -> tuple[Layer, ...]:
    allowance = image_allowance(limits)
    layers = []
    for number, layer in enumerate(found.layers, start=1):
        what = f"layer {number}"
        packed = Hashed(archive.open(layer.name))
        tar = Hashed(Metered(_unpacked(archive, layer, packed, what, limits), allowance))
        layers.append(writer.write(tar, what))
        drain(tar)
        if layer.digest not in {None, packed.digest} or tar.digest != layer.diff_id:
            raise Rejected(
                f"{what} is not what its digest says: it was damaged on its way; save and send it again"
            )
    return tuple(layers)


def _unpacked(archive: Archive, layer: FoundLayer, packed: Source, what: str, limits: IntakeLimits) -> Source:
    """Return a layer's tar, whatever its stated type is."""
    begin = archive.begins(layer.name, len(_ZSTD))
    if begin == _ZSTD:
        raise Rejected(
            f"{what} is compressed by zstd: build the image with "
            "docker buildx build --output=type=docker,dest=bot.tar,compression=gzip,force-compression=true"
        )
    return Gunzip(packed, what, limits) if begin.startswith(GZIP) else packed
