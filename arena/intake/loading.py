"""A kept image as the engine loads it: an archive as ``docker save`` writes it, never written to a disk."""

import tarfile
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from arena.intake.image import BotImage
from arena.intake.store import ImageStore

_BLOCK: Final = tarfile.BLOCKSIZE
_END: Final = bytes(2 * _BLOCK)


def docker_archive(store: ImageStore, image: BotImage, name: str) -> Iterator[bytes]:
    """Yield the archive of an image in pieces.

    What says that the archive has an image, ``manifest.json``, comes last. So a damaged layer, which is known
    at its end, leaves the engine with a broken archive without an image in it.

    Args:
        store: Has the blobs.
        image: To be loaded.
        name: By which the engine is to know it, such as ``kaiten/submitted:latest``.

    Raises:
        IntakeTrouble: A blob is damaged or missing.
    """
    sizes = {layer.digest: layer.size for layer in image.layers}  # each once
    for digest, size in sizes.items():
        yield from _member(_layer_name(digest), size, store.blob(digest, size))
    config = image.config()
    config_name = f"{image.id.removeprefix('sha256:')}.json"
    yield from _member(config_name, len(config), store.blob(image.id, len(config)))
    layers = [_layer_name(layer.digest) for layer in image.layers]
    manifest = msgspec.json.encode([{"Config": config_name, "RepoTags": [name], "Layers": layers}])
    yield from _member("manifest.json", len(manifest), [manifest])
    yield _END


def _layer_name(digest: str) -> str:
    return f"{digest.removeprefix('sha256:')}.tar"


def _member(name: str, size: int, pieces: Iterable[bytes]) -> Iterator[bytes]:
    info = tarfile.TarInfo(name)
    info.size = size
    yield info.tobuf(tarfile.GNU_FORMAT)
    yield from pieces
    yield bytes(-size % _BLOCK)
