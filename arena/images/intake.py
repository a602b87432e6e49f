"""Processes an uploaded file: repacks an image archive or wraps a source file, and stores the image.

A source file becomes its language's base image plus one layer.
"""

import hashlib
import io
import os
import posixpath
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from arena.images.image import (
    DEFAULT_LIMITS,
    BotImage,
    Command,
    IntakeError,
    IntakeLimits,
    Layer,
    Platform,
    Rejected,
)
from arena.images.objects import CHUNK
from arena.images.reader import INTAKE_UID, repack
from arena.images.store import GRACE, Content, ImageStore, PrunePolicy
from arena.languages.language import BOT_FOLDER, MAX_SOURCE_BYTES, Language, source_problem
from arena.languages.registry import LANGUAGES, is_archive, language_of


@contextmanager
def workspace(parent: Path) -> Iterator[Path]:
    """Create an empty folder that only this process's user can access, and remove it afterwards.

    Raises IntakeError if the folder can't be created.
    """
    try:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(dir=parent, ignore_cleanup_errors=True)
    except OSError as error:
        raise IntakeError(f"could not create a folder in {parent}: {error}") from error
    with folder as name:
        yield Path(name)


def remove_leftovers(parent: Path, now: datetime) -> None:
    """Remove folders left behind by processes that were killed."""
    if not parent.is_dir():
        return
    for folder in parent.iterdir():
        with suppress(FileNotFoundError):  # its own process removed it in the meantime
            if now - datetime.fromtimestamp(folder.lstat().st_mtime, UTC) >= GRACE:
                shutil.rmtree(folder, ignore_errors=True)


_OWN_LIMITS: Final = msgspec.structs.replace(DEFAULT_LIMITS, cpu_seconds=60, wall_seconds=120.0)
"""The arena's own images are trusted and get more time, because the host may be busy with matches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bases:
    """The engine's base images for bots that consist of a single source file."""

    # Returns the engine's id for a language's base image; builds the image if it is missing.
    find: Callable[[Language], str]
    # Yields the engine's image with that id in the format of `docker save`. Like ``find``, may raise
    # RuntimeFailure.
    export: Callable[[str], Iterator[bytes]]


@dataclass(frozen=True, slots=True)
class Intake:
    """Turns uploaded files into stored images.

    ``folder``, for temporary files, is created if missing. ``now`` returns the time in UTC.
    """

    store: ImageStore
    bases: Bases
    folder: Path
    platform: Platform
    now: Callable[[], datetime]
    limits: IntakeLimits = DEFAULT_LIMITS  # limits on uploaded archives

    def take(self, file: Path, policy: PrunePolicy) -> BotImage:
        """Make an image from a file and store it. Nothing in the file is run.

        An image archive is recognised by its content. Any other file must be a source file with a known
        suffix.

        Raises Rejected if the file is unacceptable (the message is for its author), or IntakeError if it
        can't be read, or the arena can't process it at the moment. Also passes on errors from ``bases``.
        """
        try:
            with file.open("rb") as opened:
                beginning = opened.read(MAX_SOURCE_BYTES + 1)
        except FileNotFoundError as error:
            raise Rejected(f"there is no file {file}") from error
        except OSError as error:
            raise IntakeError(f"{file} can't be read: {error.strerror}") from error
        if is_archive(beginning):
            return self._repack_archive(file, policy, self.limits)
        return self._wrap_source(beginning, language_for(file.name), policy)

    def _repack_archive(self, archive: Path, policy: PrunePolicy, limits: IntakeLimits) -> BotImage:
        with workspace(self.folder) as folder:
            output = folder / "layers"
            uid = INTAKE_UID if os.geteuid() == 0 else None
            image = repack(archive, output, self.platform, uid=uid, limits=limits)
            self.store.add(image, _layers_in_file(output, image), policy, self.now())
        return image

    def _wrap_source(self, source: bytes, language: Language, policy: PrunePolicy) -> BotImage:
        if problem := source_problem(source):
            raise Rejected(problem)
        image, top = wrap(source, language, self.take_own(self.bases.find(language), policy))
        self.store.add(image, _layer_content(image.layers[-1], top), policy, self.now())
        return image

    def take_own(self, engine_id: str, policy: PrunePolicy) -> BotImage:
        """Store a house bot's image or a base image, unless it is already stored.

        Raises IntakeError if it can't be stored.
        """
        own = self.store.records.base(engine_id)
        if own is None:
            with workspace(self.folder) as folder:
                archive = folder / "own.tar"
                _write(archive, self.bases.export(engine_id))
                try:
                    own = self._repack_archive(archive, policy, _OWN_LIMITS)
                except Rejected as error:
                    raise IntakeError(f"the image {engine_id} can't be stored: {error}") from error
            self.store.records.record_base(engine_id, own.id)
        # Mark it as used, so that it isn't pruned before another image or a match uses it.
        self.store.records.record_use(own.id, self.now())
        return own


def _write(file: Path, pieces: Iterable[bytes]) -> None:
    try:
        with file.open("wb") as opened:
            for piece in pieces:
                opened.write(piece)
    except OSError as error:
        raise IntakeError(f"could not write {file}: {error}") from error


def _layers_in_file(output: Path, image: BotImage) -> Content:
    """Return the content of layers stored one after another in a file."""
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


def _layer_content(known: Layer, content: bytes) -> Content:
    """Return the content of one layer; the layers below it are already stored."""

    def content_of(layer: Layer) -> Iterable[bytes]:
        if layer != known:
            raise IntakeError(
                f"the layer {layer.digest} of the base image is no longer stored; another attempt may succeed"
            )
        return [content]

    return content_of


def language_for(file_name: str) -> Language:
    """Return the language that a source file's name indicates.

    Raises Rejected if the name has no known suffix.
    """
    language = language_of(file_name)
    if language is None:
        known = ", ".join(
            f"{suffix} ({language.title})" for language in LANGUAGES for suffix in language.suffixes
        )
        raise Rejected(
            "this is neither an image archive nor a source file, whose name must end in one of these "
            f"suffixes: {known}. Submit a bot in another language as an image: "
            "docker build -t mybot . && docker save mybot -o mybot.tar"
        )
    return language


def wrap(source: bytes, language: Language, base: BotImage) -> tuple[BotImage, bytes]:
    """Return a source file's image, based on its language's base image, and the tar of the topmost layer.

    The same file on the same base always gives the same image.
    """
    layer = _layer(source, language)
    top = Layer(digest=f"sha256:{hashlib.sha256(layer).hexdigest()}", size=len(layer))
    image = BotImage(
        platform=base.platform,
        command=Command(entrypoint=language.command, env=base.command.env, working_dir=BOT_FOLDER),
        layers=(*base.layers, top),
    )
    return image, layer


def _layer(source: bytes, language: Language) -> bytes:
    """Return a tar of the bot's folder and file, owned by root and readable by all."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        folder = tarfile.TarInfo(BOT_FOLDER.lstrip("/"))
        folder.type, folder.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(folder)
        file = tarfile.TarInfo(posixpath.join(BOT_FOLDER.lstrip("/"), language.file))
        file.size, file.mode = len(source), 0o644
        tar.addfile(file, io.BytesIO(source))
    return buffer.getvalue()
