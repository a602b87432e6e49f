"""The images that are kept: layers and configurations by digest, each once however many images share it.

    blobs/sha256/HEX   a layer's uncompressed tar, or an image's configuration
    images/HEX, …      records (arena/intake/records.py); an image's is written when its blobs are all there
    incoming/…         what is being written

Adding and pruning exclude each other by a lock. Reading needs none: a record is there only if all is.
"""

import fcntl
import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from arena.intake.errors import IntakeTrouble
from arena.intake.image import BotImage, Layer
from arena.intake.objects import INCOMING, Objects
from arena.intake.pruning import blobs_of, longest_unused
from arena.intake.records import Records

GRACE: Final = timedelta(minutes=10)
"""What was written this recently may be part of something under way, and is not pruned."""

_MIB: Final = 1024 * 1024
_BLOBS: Final = "blobs/sha256"

Content = Callable[[Layer], Iterable[bytes]]
"""Gives the bytes of a layer. Called for those that are not kept yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much may be kept.

    Attributes:
        quota: For all blobs together, in bytes.
        keep: Ids of images that are never pruned.
    """

    quota: int
    keep: Collection[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What was pruned.

    Attributes:
        images: Their ids.
        freed: In bytes.
        left: What all blobs together take now, in bytes.
    """

    images: tuple[str, ...]
    freed: int
    left: int


class ImageStore:
    """Images by their ids. Every method may raise IntakeTrouble: an object can't be read or written.

    Args:
        objects: Where they are kept.
        lock: A file on this host that all processes with this store share; made where it is missing.

    Attributes:
        records: What is written down about each.
    """

    def __init__(self, objects: Objects, lock: Path) -> None:
        self._objects = objects
        self._lock = lock
        self.records = Records(objects)

    def __str__(self) -> str:
        return str(self._objects)

    def add(self, image: BotImage, content: Content, room: Room, now: datetime) -> None:
        """Keep an image, and prune others where it needs their room. Writes nothing twice.

        Raises:
            IntakeTrouble: It doesn't fit, its bytes aren't those of its digests, or they can't be written.
                It is not kept then.
        """
        wanted = blobs_of(image)
        with self._alone():
            missing = self._missing(wanted)
            size = sum(missing.values())
            left = self._prune(Room(quota=room.quota - size, keep=room.keep), now, needed=wanted.keys()).left
            if left + size > room.quota:
                raise IntakeTrouble(
                    f"there is no room for the image {image.id}: it takes {_mib(size)} more, the quota is "
                    f"{_mib(room.quota)}, and images in use take {_mib(left)} of it; "
                    "raise ARENA_IMAGE_QUOTA_GIB"
                )
            for layer in {layer.digest: layer for layer in image.layers if layer.digest in missing}.values():
                self._objects.write(_blob(layer.digest), _checked(content(layer), layer.digest, layer.size))
            if image.id in missing:
                self._objects.write(_blob(image.id), [image.config()])
            self.records.write(image, now)

    def blob(self, digest: str, size: int) -> Iterator[bytes]:
        """Yield a blob in pieces.

        Raises:
            IntakeTrouble: It is damaged or missing; perhaps only after most of it.
        """
        return _checked(self._objects.pieces(_blob(digest)), digest, size, f" in {self._objects}")

    def prune(self, room: Room, now: datetime) -> Pruned:
        """Remove images until all others fit, those used longest ago first, and what no image has."""
        with self._alone():
            return self._prune(room, now)

    def _prune(self, room: Room, now: datetime, needed: Collection[str] = ()) -> Pruned:
        images = self.records.kept(now)
        sizes = {f"sha256:{name}": size for name, size in self._objects.sizes(_BLOBS).items()}
        before = sum(sizes.values())
        users = frozenset(needed).union(*(image.blobs for image in images))
        stray = [digest for digest in sizes.keys() - users if self._is_old(_blob(digest), now)]
        self._remove(stray, sizes)
        recent = {image.id for image in images if now - image.used < GRACE}
        gone = longest_unused(
            images, sizes, room=room.quota, spared={*room.keep, *recent}, needed=frozenset(needed)
        )
        for image in gone:
            # The record first: who is killed here leaves blobs that the next prune finds.
            self.records.remove(image.id)
        stay = frozenset(needed).union(*(image.blobs for image in images if image not in gone))
        self._remove(frozenset().union(*(image.blobs for image in gone)) - stay, sizes)
        self.records.tidy(lambda name: self._is_old(name, now))
        for name in self._objects.sizes(INCOMING):
            if self._is_old(f"{INCOMING}/{name}", now):
                self._objects.remove(f"{INCOMING}/{name}")
        left = sum(sizes.values())
        return Pruned(images=tuple(image.id for image in gone), freed=before - left, left=left)

    def _remove(self, digests: Iterable[str], sizes: dict[str, int]) -> None:
        for digest in digests:
            self._objects.remove(_blob(digest))
            sizes.pop(digest, None)

    def _missing(self, wanted: dict[str, int]) -> dict[str, int]:
        sizes = self._objects.sizes(_BLOBS)
        return {
            digest: size
            for digest, size in wanted.items()
            if sizes.get(digest.removeprefix("sha256:")) != size
        }

    def _is_old(self, name: str, now: datetime) -> bool:
        written = self._objects.written(name)
        return written is not None and now - written >= GRACE

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait for the lock. It goes with this process, however that ends."""
        try:
            lock = self._lock.open("w")
        except OSError as error:
            raise IntakeTrouble(f"the lock of the images, {self._lock}: {error.strerror}") from error
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _checked(pieces: Iterable[bytes], digest: str, size: int, where: str = "") -> Iterator[bytes]:
    """Yield the same pieces, and raise at the end if they aren't what the digest says."""
    found, count = hashlib.sha256(), 0
    for piece in pieces:
        found.update(piece)
        count += len(piece)
        if count > size:
            break
        yield piece
    if count != size or f"sha256:{found.hexdigest()}" != digest:
        raise IntakeTrouble(
            f"the blob {digest}{where} is damaged: "
            "remove it there and add the images that have it again, or restore a copy"
        )


def _blob(digest: str) -> str:
    return f"{_BLOBS}/{digest.removeprefix('sha256:')}"


def _mib(size: int) -> str:
    return f"{size / _MIB:.1f} MiB"
