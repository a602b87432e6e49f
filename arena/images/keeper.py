"""Keeps the images of submitted bots within their quota, in the image store and in the engine."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import structlog

from arena.db.errors import StoreError
from arena.db.store import Store
from arena.images.image import IntakeError
from arena.images.intake import remove_leftovers
from arena.images.store import ImageStore, Pruned, PrunePolicy
from arena.platform.periodic import PeriodicTask
from arena.sandbox.runtime import RuntimeFailure

_log = structlog.get_logger()

PRUNE_SECONDS: Final = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageKeeper:
    """Determines which images are in use, and prunes others if the quota is exceeded.

    ``store`` is the database of bots. ``prune_engine`` removes the engine's copies of pruned images, so that
    the quota (in bytes) applies there too. Uploads in progress are in ``folder``. ``now`` returns the time in
    UTC.
    """

    images: ImageStore
    store: Store
    prune_engine: Callable[[], None]
    quota: int
    folder: Path
    now: Callable[[], datetime]

    def has(self, image: str) -> bool:
        """Return whether an image is stored. Raises the same errors as :meth:`prune_policy`."""
        return image in stored_ids(self.store, self.images)

    def prune_policy(self) -> PrunePolicy:
        """Return the quota, and how to find the images that must not be pruned.

        Raises StoreError if the database fails, or IntakeError if the images can't be listed or every image
        in use is missing.
        """
        stored_ids(self.store, self.images)
        return PrunePolicy(quota=self.quota, keep=self.store.bots.sources_in_use)

    def prune(self) -> Pruned:
        """Remove images beyond the quota, and files that killed processes have left behind.

        Raises StoreError if the database fails; RuntimeFailure if the engine failed to remove some images; or
        IntakeError if something can't be listed or removed, or if every image in use is missing. In the last
        case, nothing is removed or recorded.
        """
        pruned = self.images.prune(self.prune_policy(), self.now())
        self.record_missing_images()
        remove_leftovers(self.folder, self.now())
        self.prune_engine()
        return pruned

    def record_missing_images(self) -> None:
        """Record which versions can't play because their images are gone, and which can play again.

        Call this after adding images, too, because adding may prune others. Raises StoreError if the database
        fails, or IntakeError if the images can't be listed or every image in use is missing.
        """
        self.store.bots.record_missing_images(stored_ids(self.store, self.images), self.now())


def stored_ids(store: Store, images: ImageStore) -> frozenset[str]:
    """Return the ids of all images.

    Images in use are never pruned, so if all images of submitted bots are missing, the folder is probably not
    the image store but, for example, the empty mount point of a disk that is not mounted. Raises StoreError
    if the database fails, or IntakeError if all those images are missing or the images can't be listed.
    """
    used = store.bots.sources_in_use(untrusted_only=True)
    ids = images.records.ids()
    if used and used.isdisjoint(ids):
        raise IntakeError(
            f"none of the {len(used)} images that submitted bots use is in {images}: check that it is "
            "mounted, and that ARENA_IMAGES_URL is correct. Nothing is stored or pruned there, or backed up, "
            "until the images are back, or those bots are retired"
        )
    return ids


def pruner(keeper: ImageKeeper, *, seconds: float = PRUNE_SECONDS) -> PeriodicTask:
    """Return a task that prunes immediately and then every ``seconds``."""

    def prune() -> None:
        pruned = keeper.prune()
        if pruned.images:
            _log.info("images pruned", images=len(pruned.images), freed=pruned.freed, left=pruned.left)

    expected = (IntakeError, RuntimeFailure, StoreError)
    return PeriodicTask(prune, name="pruner", seconds=seconds, expected=expected)
