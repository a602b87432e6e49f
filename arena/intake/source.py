"""The image store as the sandbox sees it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

from arena.intake.errors import IntakeTrouble
from arena.intake.loading import docker_archive
from arena.intake.store import ImageStore
from arena.sandbox.errors import RuntimeTrouble
from arena.sandbox.image_source import KeptImage


class StoreSource:
    """Gives kept images to an engine: an :class:`arena.sandbox.image_source.ImageSource`.

    Args:
        store: Has them.
        install: The installation's id, so that arenas that share an engine don't prune each other's.
        now: UTC; None where it is not to be noted when images are used.
    """

    def __init__(self, store: ImageStore, install: str, now: Callable[[], datetime] | None) -> None:
        self._store = store
        self._repository = f"kaiten/submitted-{install}"
        self._now = now

    @property
    def repository(self) -> str:
        """See :class:`arena.sandbox.image_source.ImageSource`."""
        return self._repository

    def find(self, id_: str) -> KeptImage | None:
        """See :class:`arena.sandbox.image_source.ImageSource`. Notes that the image is used, where it may."""
        with _as_trouble():
            image = self._store.records.image(id_)
            if image is None:
                return None
            if self._now is not None:
                self._store.records.note_use(id_, self._now())
        kept = image

        def archive(name: str) -> Iterator[bytes]:
            with _as_trouble():
                yield from docker_archive(self._store, kept, name)

        return KeptImage(config=image.config(), archive=archive)

    def ids(self) -> frozenset[str]:
        """See :class:`arena.sandbox.image_source.ImageSource`."""
        with _as_trouble():
            return self._store.records.ids()


@contextmanager
def _as_trouble() -> Iterator[None]:
    try:
        yield
    except IntakeTrouble as error:
        raise RuntimeTrouble(str(error)) from error
