"""Provides stored images to the sandbox."""

import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Final

import msgspec

from arena.images.image import BotImage, IntakeError
from arena.images.store import ImageStore
from arena.sandbox.runtime import KeptImage, RuntimeFailure

_BLOCK: Final = tarfile.BLOCKSIZE
_END_OF_TAR: Final = bytes(2 * _BLOCK)


def docker_archive(store: ImageStore, image: BotImage, name: str) -> Iterator[bytes]:
    """Yield an image's archive in pieces, for the engine to load.

    ``manifest.json``, which declares the image, comes last. Damage to a layer is detected only at the layer's
    end, and the archive then ends without declaring an image.

    ``name`` is the image's name in the engine, such as ``kaiten/submitted:latest``. Raises IntakeError if a
    blob is damaged or missing.
    """
    sizes = {layer.digest: layer.size for layer in image.layers}  # each digest once
    for digest, size in sizes.items():
        yield from _member(_layer_name(digest), size, store.blob(digest, size))
    config = image.config()
    config_name = f"{image.id.removeprefix('sha256:')}.json"
    yield from _member(config_name, len(config), store.blob(image.id, len(config)))
    layers = [_layer_name(layer.digest) for layer in image.layers]
    manifest = msgspec.json.encode([{"Config": config_name, "RepoTags": [name], "Layers": layers}])
    yield from _member("manifest.json", len(manifest), [manifest])
    yield _END_OF_TAR


def _layer_name(digest: str) -> str:
    return f"{digest.removeprefix('sha256:')}.tar"


def _member(name: str, size: int, pieces: Iterable[bytes]) -> Iterator[bytes]:
    info = tarfile.TarInfo(name)
    info.size = size
    yield info.tobuf(tarfile.GNU_FORMAT)
    yield from pieces
    yield bytes(-size % _BLOCK)


class StoreSource:
    """Provides stored images to an engine: an :class:`arena.sandbox.runtime.ImageSource`.

    ``install`` is the installation's id: it keeps arenas that share an engine from pruning each other's
    images. ``now`` returns the time in UTC; if it is None, the use of images is not recorded.
    """

    def __init__(self, store: ImageStore, install: str, now: Callable[[], datetime] | None) -> None:
        self._store = store
        self.repository = f"kaiten/submitted-{install}"
        self._now = now

    def find(self, id_: str) -> KeptImage | None:
        """Return an image, or None if it is not stored. Record the use unless ``now`` is None."""
        with _as_runtime_failure():
            image = self._store.records.image(id_)
            if image is None:
                return None
            if self._now is not None:
                self._store.records.record_use(id_, self._now())
        kept = image

        def archive(name: str) -> Iterator[bytes]:
            with _as_runtime_failure():
                yield from docker_archive(self._store, kept, name)

        return KeptImage(config=image.config(), archive=archive)

    def ids(self) -> frozenset[str]:
        """See :class:`arena.sandbox.runtime.ImageSource`."""
        with _as_runtime_failure():
            return self._store.records.ids()

    def unavailable_reason(self) -> str | None:
        """See :class:`arena.sandbox.runtime.ImageSource`.

        The coordinator stores house bots' images before it sends matches to workers, so a worker's store can
        be empty only for a moment. The coordinator checks its own store with
        :func:`arena.images.keeper.stored_ids`.
        """
        if self._now is not None or self.ids():
            return None
        return (
            f"there are no images in {self._store}: if the coordinator has already run, check that the store "
            "is mounted and that ARENA_IMAGES_URL is correct"
        )


@contextmanager
def _as_runtime_failure() -> Iterator[None]:
    try:
        yield
    except IntakeError as error:
        raise RuntimeFailure(str(error)) from error
