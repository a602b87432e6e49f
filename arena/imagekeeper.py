"""Keeps the images of submitted bots below their quota, here and in the engine."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol

import structlog

from arena.intake.errors import IntakeTrouble
from arena.intake.store import ImageStore, Pruned, Room
from arena.intake.workspace import remove_left
from arena.recurring import Recurring
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
            IntakeTrouble: The images can't be listed, or none of those that are in use is there.
            StoreError: The database can't be used.
        """
        self._listed()
        return Room(quota=self._quota, keep=self._store.reads.sources_in_use())

    def prune(self) -> Pruned:
        """Remove what is beyond the quota and what killed processes have left.

        Raises:
            IntakeTrouble: Something can't be listed or removed, or no image in use is there: nothing is
                removed or noted then.
            RuntimeTrouble: The engine still has some.
            StoreError: The database can't be used.
        """
        pruned = self._images.prune(self.room(), self._now())
        self.note_gone()
        remove_left(self._folder, self._now())
        self._engine.prune_images()
        return pruned

    def note_gone(self) -> None:
        """Write down which versions have no image any more, so that nobody lets them play, and which again.

        To be called after images were added, too: that removes others where it needs their room.

        Raises:
            IntakeTrouble: The images can't be listed, or none of those that are in use is there.
            StoreError: The database can't be used.
        """
        self._store.bots.note_gone(self._listed(), self._now())

    def _listed(self) -> frozenset[str]:
        """Return the ids of all images.

        Images that are in use are never pruned. Where all of them are missing, this is not where they are
        kept, such as the empty folder where a disk should be mounted.

        Raises:
            IntakeTrouble: So it is, or nobody can tell.
            StoreError: The database can't be used.
        """
        used = self._store.reads.sources_in_use(strangers_only=True)
        ids = self._images.records.ids()
        if used and used.isdisjoint(ids):
            raise IntakeTrouble(
                f"none of the {len(used)} images of submitted bots that are in use is in {self._images}: is "
                "it mounted, does ARENA_IMAGES_URL name it? Nothing is kept or pruned there until they are "
                "there again, or those bots are retired"
            )
        return ids


def pruner(keeper: ImageKeeper, *, seconds: float = PRUNE_SECONDS) -> Recurring:
    """Return what prunes at once and then every hour.

    Args:
        keeper: Does it.
        seconds: Between two times.
    """

    def prune() -> None:
        pruned = keeper.prune()
        if pruned.images:
            _log.info("images pruned", images=len(pruned.images), freed=pruned.freed, left=pruned.left)

    expected = (IntakeTrouble, RuntimeTrouble, StoreError)
    return Recurring(prune, name="pruner", seconds=seconds, expected=expected)
