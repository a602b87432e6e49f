"""The image store: layers and configurations by digest, each stored once however many images share it.

    blobs/sha256/HEX   a layer's uncompressed tar, or an image's configuration
    images/HEX, …      records; an image's record is written after all of its blobs
    incoming/…         objects being written

A lock prevents images from being added and pruned at the same time. Reading needs no lock: a record exists
only if all of its blobs do.
"""

import fcntl
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec

from arena.images.image import BotImage, IntakeError, Layer
from arena.images.objects import INCOMING, Objects
from arena.protocol.decoding import prepared


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredImage:
    """A stored image: the digests of its layers and configuration, and when it was last used or added."""

    id: str
    blobs: frozenset[str]
    used: datetime


def blobs_of(image: BotImage) -> dict[str, int]:
    """Return the sizes in bytes of an image's layers and configuration, by digest."""
    return {layer.digest: layer.size for layer in image.layers} | {image.id: len(image.config())}


_HEX: Final = re.compile(r"[0-9a-f]{64}")

_USE_GRANULARITY: Final = timedelta(hours=1)


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    image: BotImage
    added: datetime


class Records:
    """The records of one store. Every method raises IntakeError if an object can't be read or written."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def ids(self) -> frozenset[str]:
        """Return the ids of all images, ignoring foreign files in the folder."""
        return frozenset(f"sha256:{name}" for name in self._objects.sizes("images") if _HEX.fullmatch(name))

    def image(self, id_: str) -> BotImage | None:
        """Return an image, or None if it is not stored.

        Raises IntakeError if its record is damaged or can't be read.
        """
        record = self._find(id_)
        return None if record is None else record.image

    def stored(self) -> tuple[StoredImage, ...]:
        """Return all images. Raises IntakeError if a record is damaged or can't be read."""
        found = []
        for id_ in self.ids():
            if (record := self._find(id_)) is not None:
                used = self._last_use(id_) or record.added
                found.append(StoredImage(id=id_, blobs=frozenset(blobs_of(record.image)), used=used))
        return tuple(found)

    def write(self, image: BotImage, now: datetime) -> None:
        """Record an image's use, and write the image's record unless it already exists."""
        self._write_use(image.id, now)
        if self._find(image.id) is None:
            record = msgspec.json.encode(_Record(image=image, added=now))
            self._objects.write(_name("images", image.id), [record])

    def remove(self, id_: str) -> None:
        """Remove an image's record."""
        self._objects.remove(_name("images", id_))

    def record_use(self, id_: str, now: datetime) -> None:
        """Record an image's use, unless one was recorded within the last hour."""
        used = self._last_use(id_)
        if used is None or abs(now - used) >= _USE_GRANULARITY:
            self._write_use(id_, now)

    def base(self, engine_id: str) -> BotImage | None:
        """Return the stored copy of an engine's image, or None."""
        noted = self._objects.read(_name("bases", engine_id))
        return None if noted is None else self.image(noted.decode(errors="replace"))

    def record_base(self, engine_id: str, id_: str) -> None:
        """Record which image is the stored copy of an engine's image."""
        self._objects.write(_name("bases", engine_id), [id_.encode()])

    def tidy(self, is_old: Callable[[str], bool]) -> None:
        """Remove entries for images that no longer exist.

        ``is_old`` returns True if the object with this name is too old to belong to an operation in progress.
        """
        ids = self.ids()
        for name in self._objects.sizes("used"):
            if f"sha256:{name}" not in ids and is_old(f"used/{name}"):
                self._objects.remove(f"used/{name}")
        for name in self._objects.sizes("bases"):
            noted = (self._objects.read(f"bases/{name}") or b"").decode(errors="replace")
            if noted not in ids and is_old(f"bases/{name}"):
                self._objects.remove(f"bases/{name}")

    def _find(self, id_: str) -> _Record | None:
        name = _name("images", id_)
        content = self._objects.read(name)
        if content is None:
            return None
        damage = f"the record {name} in {self._objects} is damaged: remove it and add the image again"
        try:
            record = msgspec.json.decode(content, type=prepared(_Record))
        except ValueError as error:
            raise IntakeError(damage) from error
        if record.image.id != id_:
            raise IntakeError(damage)
        return record

    def _last_use(self, id_: str) -> datetime | None:
        noted = self._objects.read(_name("used", id_))
        try:
            return None if noted is None else datetime.fromisoformat(noted.decode())
        except ValueError:
            return None  # it only affects the pruning order

    def _write_use(self, id_: str, now: datetime) -> None:
        self._objects.write(_name("used", id_), [now.isoformat(timespec="seconds").encode()])


def _name(folder: str, id_: str) -> str:
    return f"{folder}/{id_.removeprefix('sha256:')}"


GRACE: Final = timedelta(minutes=10)
"""Age below which objects are not pruned, because they may be part of an operation in progress."""

_MIB: Final = 1024 * 1024
_BLOBS: Final = "blobs/sha256"

Content = Callable[[Layer], Iterable[bytes]]
"""Yields a layer's bytes. Called only for layers that are not stored yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrunePolicy:
    """The quota in bytes for all blobs together, and a function that returns the images in use, by id.

    Images in use are not pruned. The function is called only before images are pruned, because reading an
    upload may take minutes.
    """

    quota: int
    keep: Callable[[], Collection[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """The pruned images' ids, the number of bytes freed, and the total size of the remaining blobs."""

    images: tuple[str, ...]
    freed: int
    left: int


class ImageStore:
    """Stores images by id. Every method raises IntakeError if an object can't be read or written.

    All processes on this host that use the store share the file ``lock``, which is created if missing.
    """

    def __init__(self, objects: Objects, lock: Path) -> None:
        self._objects = objects
        self._lock = lock
        self.records = Records(objects)  # the metadata of each image

    def __str__(self) -> str:
        return str(self._objects)

    def add(self, image: BotImage, content: Content, policy: PrunePolicy, now: datetime) -> None:
        """Store an image. Skip blobs that are already stored, and prune other images to make room.

        Raises IntakeError, and adds no image, if the image doesn't fit, its bytes don't match its digests, or
        they can't be written.
        """
        wanted = blobs_of(image)
        with self._locked():
            missing = self._missing(wanted)
            size = sum(missing.values())
            rest = replace(policy, quota=policy.quota - size)
            left = self._prune(rest, now, needed=wanted.keys()).left
            if left + size > policy.quota:
                raise IntakeError(
                    f"no room for the image {image.id}: it needs {_mib(size)}, the quota is "
                    f"{_mib(policy.quota)}, and images in use take {_mib(left)} of it. "
                    "Raise ARENA_IMAGE_QUOTA_GIB"
                )
            for layer in {layer.digest: layer for layer in image.layers if layer.digest in missing}.values():
                damage = f"the blob {layer.digest} was damaged before it was stored: check this host's disk"
                self._objects.write(
                    _blob(layer.digest), _verify_pieces(content(layer), layer.digest, layer.size, damage)
                )
            if image.id in missing:
                self._objects.write(_blob(image.id), [image.config()])
            self.records.write(image, now)

    def blob(self, digest: str, size: int) -> Iterator[bytes]:
        """Yield a blob in pieces.

        Raises IntakeError if the blob is damaged or missing, possibly after yielding most of it.
        """
        damage = (
            f"the blob {digest} in {self._objects} is damaged: "
            "delete it there, then restore it from a copy or re-add the images that contain it"
        )
        return _verify_pieces(self._objects.pieces(_blob(digest)), digest, size, damage)

    def prune(self, policy: PrunePolicy, now: datetime) -> Pruned:
        """Remove blobs that belong to no image, then the least recently used images until the rest fit."""
        with self._locked():
            return self._prune(policy, now)

    def _prune(self, policy: PrunePolicy, now: datetime, needed: Collection[str] = ()) -> Pruned:
        images = self.records.stored()
        sizes = {f"sha256:{name}": size for name, size in self._objects.sizes(_BLOBS).items()}
        before = left = sum(sizes.values())
        users = Counter(needed)
        for image in images:
            users.update(image.blobs)
        stray = [digest for digest in sizes.keys() - users.keys() if self._is_old(_blob(digest), now)]
        left -= self._remove(stray, sizes)
        pruned = []
        kept = policy.keep() if left > policy.quota else ()
        for image in sorted(images, key=lambda image: (image.used, image.id)):
            if left <= policy.quota:
                break
            # A time in the future, left by a wrong clock, must not protect an image.
            if image.id in kept or abs(now - image.used) < GRACE:
                continue
            # Remove the record first: if this process is killed here, the next prune removes the blobs.
            self.records.remove(image.id)
            users.subtract(image.blobs)
            left -= self._remove([digest for digest in image.blobs if not users[digest]], sizes)
            pruned.append(image.id)
        self.records.tidy(lambda name: self._is_old(name, now))
        for name in self._objects.sizes(INCOMING):
            if self._is_old(f"{INCOMING}/{name}", now):
                self._objects.remove(f"{INCOMING}/{name}")
        return Pruned(images=tuple(pruned), freed=before - left, left=left)

    def _remove(self, digests: Iterable[str], sizes: dict[str, int]) -> int:
        """Remove blobs from the store and from ``sizes``. Return how many bytes that frees."""
        freed = 0
        for digest in digests:
            self._objects.remove(_blob(digest))
            freed += sizes.pop(digest, 0)
        return freed

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
    def _locked(self) -> Iterator[None]:
        """Hold the lock. It is also released if this process is killed."""
        try:
            lock = self._lock.open("w")
        except OSError as error:
            raise IntakeError(
                f"can't open the image store's lock {self._lock} ({error.strerror}): check its permissions"
            ) from error
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _verify_pieces(pieces: Iterable[bytes], digest: str, size: int, damage: str) -> Iterator[bytes]:
    """Yield the pieces. Raises IntakeError(damage) at the end if they don't match the digest."""
    found, count = hashlib.sha256(), 0
    for piece in pieces:
        found.update(piece)
        count += len(piece)
        if count > size:
            break
        yield piece
    if count != size or f"sha256:{found.hexdigest()}" != digest:
        raise IntakeError(damage)


def _blob(digest: str) -> str:
    return f"{_BLOBS}/{digest.removeprefix('sha256:')}"


def _mib(size: int) -> str:
    return f"{size / _MIB:.1f} MiB"
