"""What is written down about the images that are kept: small objects, each read and written whole.

images/HEX   what an image is made of, and when it was added
used/HEX     when it was last used, in steps of an hour
bases/HEX    which image came of the engine's image of this id, one of the arena's own
"""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import msgspec

from arena.intake.errors import IntakeTrouble
from arena.intake.image import BotImage
from arena.intake.objects import Objects
from arena.intake.pruning import Kept, blobs_of

_HEX: Final = re.compile(r"[0-9a-f]{64}")

_COARSE: Final = timedelta(hours=1)


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    image: BotImage
    added: datetime


class Records:
    """The records of one store. Every method may raise IntakeTrouble: an object can't be read or written.

    Args:
        objects: Where they are.
    """

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def ids(self) -> frozenset[str]:
        """Return the ids of all images. What else lies in the folder is somebody's mistake and no record."""
        return frozenset(f"sha256:{name}" for name in self._objects.sizes("images") if _HEX.fullmatch(name))

    def image(self, id_: str) -> BotImage | None:
        """Return what an image is made of, or None where it is not kept.

        Raises:
            IntakeTrouble: Its record is damaged, or can't be read.
        """
        record = self._find(id_)
        return None if record is None else record.image

    def kept(self, now: datetime) -> tuple[Kept, ...]:
        """Return all images.

        Raises:
            IntakeTrouble: A record is damaged, or can't be read.
        """
        found = []
        for id_ in self.ids():
            if (record := self._find(id_)) is not None:
                used = max(record.added, self._used(id_) or record.added)
                # A clock that was wrong once must not make an image young for ever.
                kept = Kept(id=id_, blobs=frozenset(blobs_of(record.image)), used=min(used, now))
                found.append(kept)
        return tuple(found)

    def write(self, image: BotImage, now: datetime) -> None:
        """Write an image's record, unless there is one, and that it is used."""
        self._note(image.id, now)
        if self._find(image.id) is None:
            record = msgspec.json.encode(_Record(image=image, added=now))
            self._objects.write(_name("images", image.id), [record])

    def remove(self, id_: str) -> None:
        """Remove an image's record."""
        self._objects.remove(_name("images", id_))

    def note_use(self, id_: str, now: datetime) -> None:
        """Write down that an image is used, where the last note is an hour old."""
        used = self._used(id_)
        if used is None or now - used >= _COARSE:
            self._note(id_, now)

    def base(self, engine_id: str) -> BotImage | None:
        """Return what came of the engine's image of this id, or None where it is not kept."""
        noted = self._objects.read(_name("bases", engine_id))
        return None if noted is None else self.image(noted.decode(errors="replace"))

    def note_base(self, engine_id: str, id_: str) -> None:
        """Write down which image came of the engine's image of this id."""
        self._objects.write(_name("bases", engine_id), [id_.encode()])

    def tidy(self, is_old: Callable[[str], bool]) -> None:
        """Remove notes on images that are not kept.

        Args:
            is_old: Whether an object was not written just now.
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
            record = msgspec.json.decode(content, type=_Record)
        except ValueError as error:
            raise IntakeTrouble(damage) from error
        if record.image.id != id_:
            raise IntakeTrouble(damage)
        return record

    def _used(self, id_: str) -> datetime | None:
        noted = self._objects.read(_name("used", id_))
        try:
            return None if noted is None else datetime.fromisoformat(noted.decode())
        except ValueError:
            return None  # it only decides what is pruned first

    def _note(self, id_: str, now: datetime) -> None:
        self._objects.write(_name("used", id_), [now.isoformat(timespec="seconds").encode()])


def _name(folder: str, id_: str) -> str:
    return f"{folder}/{id_.removeprefix('sha256:')}"
