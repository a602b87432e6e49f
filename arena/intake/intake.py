"""Takes in a file: an image's archive is repacked, a source file is wrapped, and what comes of it is kept."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from arena.intake.errors import IntakeTrouble, Rejected
from arena.intake.image import BotImage, Layer, Platform
from arena.intake.limits import DEFAULT_LIMITS, IntakeLimits
from arena.intake.objects import CHUNK
from arena.intake.repack import INTAKE_UID, repack
from arena.intake.store import Content, ImageStore, Room
from arena.intake.workspace import workspace
from arena.intake.wrap import MAX_SOURCE_BYTES, check_source, language_for, wrap
from arena.languages import Language

_GZIP: Final = b"\x1f\x8b"
_TAR: Final = b"ustar"
_TAR_OFFSET: Final = 257

_OWN_LIMITS: Final = msgspec.structs.replace(DEFAULT_LIMITS, cpu_seconds=60, wall_seconds=120.0)
"""Nobody means harm with the arena's own images, and the host may be busy with matches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bases:
    """The arena's own images for bots that are one source file, as the engine has them.

    Attributes:
        find: Returns the engine's id of a language's image, which is made where it is missing.
        export: Gives an image of the engine's by that id, as ``docker save`` writes it.
    """

    find: Callable[[Language], str]
    export: Callable[[str], Iterator[bytes]]


class Intake:
    """Makes images of the arena's own out of files.

    Args:
        store: Keeps them.
        bases: What source files are wrapped on.
        folder: For what is on its way; made where it is missing.
        platform: Of the bots.
        now: UTC.
    """

    def __init__(
        self, store: ImageStore, bases: Bases, folder: Path, platform: Platform, now: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._bases = bases
        self._folder = folder
        self._platform = platform
        self._now = now

    def take(self, file: Path, room: Room) -> BotImage:
        """Make an image of a file and keep it. Nothing in the file is run.

        Args:
            file: An image's archive, told by its content, or else a source file, told by its name.
            room: For images.

        Raises:
            Rejected: It can't be taken; the text is for its owner.
            IntakeTrouble: The arena can't take it now.
        """
        try:
            with file.open("rb") as opened:
                beginning = opened.read(MAX_SOURCE_BYTES + 1)
        except OSError as error:
            raise Rejected(f"{file} can't be read: {error.strerror}") from error
        if is_archive(beginning):
            return self._repacked(file, room)
        return self._wrapped(beginning, language_for(file.name), room)

    def _repacked(self, archive: Path, room: Room, limits: IntakeLimits = DEFAULT_LIMITS) -> BotImage:
        with workspace(self._folder) as folder:
            output = folder / "layers"
            uid = INTAKE_UID if os.geteuid() == 0 else None
            image = repack(archive, output, self._platform, uid=uid, limits=limits)
            self._store.add(image, _in_file(output, image), room, self._now())
        return image

    def _wrapped(self, source: bytes, language: Language, room: Room) -> BotImage:
        check_source(source)
        image, top = wrap(source, language, self.take_own(self._bases.find(language), room))
        self._store.add(image, _only(image.layers[-1], top), room, self._now())
        return image

    def take_own(self, engine_id: str, room: Room) -> BotImage:
        """Keep an image of the arena's own, once for each image of the engine's.

        Args:
            engine_id: The engine's id of it.
            room: For images.

        Raises:
            IntakeTrouble: It can't be taken in.
        """
        own = self._store.records.base(engine_id)
        if own is None:
            with workspace(self._folder) as folder:
                archive = folder / "own.tar"
                _write(archive, self._bases.export(engine_id))
                try:
                    own = self._repacked(archive, room, _OWN_LIMITS)
                except Rejected as error:
                    raise IntakeTrouble(f"the image {engine_id} can't be taken in: {error}") from error
            self._store.records.note_base(engine_id, own.id)
        # Used just now, so that no prune removes it before it is part of another image, or of a match.
        self._store.records.note_use(own.id, self._now())
        return own


def is_archive(beginning: bytes) -> bool:
    """Whether a file is a tar or compressed, by its first bytes."""
    return beginning.startswith(_GZIP) or beginning[_TAR_OFFSET:].startswith(_TAR)


def _write(file: Path, pieces: Iterable[bytes]) -> None:
    try:
        with file.open("wb") as opened:
            for piece in pieces:
                opened.write(piece)
    except OSError as error:
        raise IntakeTrouble(f"could not write {file}: {error}") from error


def _in_file(output: Path, image: BotImage) -> Content:
    """Give layers that stand in a file one after another."""
    offsets: dict[str, int] = {}
    end = 0
    for layer in image.layers:
        offsets.setdefault(layer.digest, end)
        end += layer.size

    def content(layer: Layer) -> Iterator[bytes]:
        left = layer.size
        with output.open("rb") as file:
            file.seek(offsets[layer.digest])
            while left and (piece := file.read(min(left, CHUNK))):
                left -= len(piece)
                yield piece

    return content


def _only(known: Layer, content: bytes) -> Content:
    """Give one layer; those below it are kept already."""

    def give(layer: Layer) -> Iterable[bytes]:
        if layer != known:
            raise IntakeTrouble(
                f"the layer {layer.digest} of the base image has been removed meanwhile: add the bot again"
            )
        return [content]

    return give
