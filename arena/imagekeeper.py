"""Keeps the images of submitted bots below their quota, here and in the engine."""

import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Protocol, Self

import structlog

from arena.intake.errors import IntakeTrouble
from arena.intake.store import ImageStore, Pruned, Room
from arena.intake.workspace import remove_left
from arena.sandbox import RuntimeTrouble
from arena.store import Store, StoreError

_log = structlog.get_logger()

PRUNE_SECONDS: Final = 3600.0


class Engine(Protocol):
    """What has loaded images."""

    def prune_images(self) -> int:
        """Remove what was loaded and is no longer kept; return how many images that were."""


class ImageKeeper:
    """Knows which images are in use, and prunes the others.

    Args:
        images: All that are kept.
        store: Knows what plays.
        engine: Has copies; they go when the kept ones do, so that they are held to the same quota.
        quota: For all that is kept, in bytes.
        folder: Where files on their way are.
        now: UTC.
    """

    def __init__(  # noqa: PLR0913 - what there is to keep in order
        self,
        *,
        images: ImageStore,
        store: Store,
        engine: Engine,
        quota: int,
        folder: Path,
        now: Callable[[], datetime],
    ) -> None:
        self._images = images
        self._store = store
        self._engine = engine
        self._quota = quota
        self._folder = folder
        self._now = now

    def room(self) -> Room:
        """Return how much may be kept, and what must not be pruned.

        Raises:
            StoreError: The database can't be used.
        """
        return Room(quota=self._quota, keep=self._store.reads.sources_in_use())

    def prune(self) -> Pruned:
        """Remove what is beyond the quota and what killed processes have left.

        Raises:
            IntakeTrouble: Something can't be listed or removed.
            RuntimeTrouble: The engine still has some.
            StoreError: The database can't be used.
        """
        pruned = self._images.prune(self.room(), self._now())
        remove_left(self._folder, self._now())
        self._engine.prune_images()
        return pruned


class Pruner:
    """Prunes at once and then every hour, in a thread of its own, for as long as its context lasts.

    Args:
        keeper: Does it.
        seconds: Between two times.
    """

    def __init__(self, keeper: ImageKeeper, *, seconds: float = PRUNE_SECONDS) -> None:
        self._keeper = keeper
        self._seconds = seconds
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pruner", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            try:
                pruned = self._keeper.prune()
            except (IntakeTrouble, RuntimeTrouble, StoreError) as error:
                _log.warning("images not pruned, tried again later", error=str(error))
            else:
                if pruned.images:
                    _log.info(
                        "images pruned", images=len(pruned.images), freed=pruned.freed, left=pruned.left
                    )
            if self._over.wait(self._seconds):
                return
