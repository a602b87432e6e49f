"""Finds an author's bot by its path or image name, and prepares it for upload."""

import hashlib
import os
import re
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.client.sites import CannotSend
from arena.languages.language import MAX_SOURCE_BYTES, Language, source_problem
from arena.languages.registry import SOURCE_SUFFIXES, is_archive, language_of
from arena.platform.names import WrongName, check_name

_ARCHIVES: Final = (".tar.gz", ".tgz", ".tar")
_IMAGE_ID: Final = re.compile(r"(sha256:)?[0-9a-f]{12,64}")
_IMAGE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A bot on its author's machine."""

    text: str  # as the author typed it
    path: Path | None  # None for an image
    language: Language | None  # None except for a source file
    name: str  # the bot's default name


def target_of(text: str) -> Target:
    """Resolve an author's input: an existing file or folder, or else the name of an image.

    Raises CannotSend if the target can't be a bot.
    """
    path = Path(text)
    try:
        if text and path.is_dir():
            return _folder(text, path)
        if text and path.exists():
            return _file_target(text, path)
    except OSError as error:
        raise CannotSend(f"{text} can't be read ({error.strerror})") from error
    if text.startswith((".", os.sep)) or language_of(text) or text.endswith(_ARCHIVES):
        raise CannotSend(f"no such file or folder: {text}")
    if not _IMAGE_NAME.fullmatch(text):
        raise CannotSend(
            f"{text!a} is neither an existing file or folder nor a valid image name. Check the name"
        )
    return Target(text=text, path=None, language=None, name=repository(text))


def repository(image: str) -> str:
    """Return the last component of an image's name: ``mybot`` for ``registry:5000/team/mybot:2@sha256:…``."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0]


def _folder(text: str, path: Path) -> Target:
    files = sorted(path.iterdir())
    if path / "Dockerfile" in files:
        return Target(text=text, path=path, language=None, name=path.resolve().name)
    source = next((file for file in files if language_of(file.name)), None)
    instead = f"give its source file ({source})" if source else "give a source file"
    raise CannotSend(f"the folder {text} has no Dockerfile: add one, or {instead}")


def _file_target(text: str, path: Path) -> Target:
    if not path.is_file():
        raise CannotSend(f"{text} is not a regular file or folder: give a file, a folder or an image")
    language = language_of(path.name)
    if language is not None:
        return Target(text=text, path=path, language=language, name=path.stem)
    with path.open("rb") as file:
        beginning = file.read(tarfile.BLOCKSIZE)
    if not is_archive(beginning):
        raise CannotSend(
            f"{text} is neither a source file ({SOURCE_SUFFIXES}) nor a docker save archive (tar or tar.gz)"
        )
    ending = next((each for each in _ARCHIVES if path.name.endswith(each)), path.suffix)
    return Target(text=text, path=path, language=None, name=path.name.removesuffix(ending))


def check_source(target: Target) -> None:
    """Check that the arena accepts a source file: a rejected one would count towards the quota.

    Raises CannotSend. Other targets aren't checked.
    """
    if target.language is None or target.path is None:
        return
    try:
        with target.path.open("rb") as file:
            problem = source_problem(file.read(MAX_SOURCE_BYTES + 1))
    except OSError as error:
        raise CannotSend(f"{target.text} can't be read ({error.strerror})") from error
    if problem is not None:
        raise CannotSend(f"{target.text} can't be sent: {problem}")


_PIECE: Final = 256 * 1024

Report = Callable[[int, int], None]
"""Receives the number of bytes sent so far and the estimated total."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """A bot that can be sent."""

    bot: str  # the bot's name
    kind: str  # `image`, or the name of a language
    # Size of the file in bytes; None for an image from the engine, which is exported during the transfer.
    size: int | None
    sha256: str | None  # hexadecimal hash of the file; None for an image from the engine
    # Yields bytes to send, and how much of `work` is done so far. Each call starts from the beginning.
    pieces: Callable[[], Iterator[tuple[bytes, int]]]
    work: int  # approximate total, in uncompressed bytes


@contextmanager
def payload_of(target: Target, name: str | None) -> Iterator[Payload]:
    """Open a target as a payload; if it is a folder, build its image first.

    ``name`` is the bot's name, or None for the target's default. Raises CannotSend if the target can't be
    sent. Some errors occur only during the upload.
    """
    if target.path is not None and not target.path.is_dir():
        yield _file_payload(target, target.path, _check_bot_name(name or target.name))
        return
    from arena.client import images  # noqa: PLC0415 - imports docker, which a source file doesn't need

    image_name = target.text
    if target.path is not None:
        name = _check_bot_name(name or target.name)  # before the build, which may take minutes
        image_name = images.build(target.path)
    with images.found(image_name) as image:
        yield Payload(
            bot=_check_bot_name(name or _name_of(target, image.tags)),
            kind="image",
            size=None,
            sha256=None,
            pieces=lambda: images.packed(image),
            work=int(image.attrs.get("Size") or 0),
        )


class Body:
    """The payload's bytes, counted and hashed as they are sent. ``fully_sent`` is True at the end."""

    def __init__(self, payload: Payload, report: Report) -> None:
        self._payload = payload
        self._report = report
        self._digest = hashlib.sha256()
        self._sent = 0
        self.fully_sent = False

    def __iter__(self) -> Iterator[bytes]:
        for piece, done in self._payload.pieces():
            self._digest.update(piece)
            self._sent += len(piece)
            yield piece
            self._report(self._sent, self._sent * max(self._payload.work, done) // max(done, 1))
        self.fully_sent = True

    @property
    def sha256(self) -> str:
        """The hexadecimal hash of the bytes sent so far."""
        return self._digest.hexdigest()


class BodyOfFile(Body):
    """A body of known length, so that a site can immediately reject a file that is too large."""

    def __len__(self) -> int:
        return self._payload.size or 0


def body_of(payload: Payload, report: Report) -> Body:
    """Return a payload's body."""
    return Body(payload, report) if payload.size is None else BodyOfFile(payload, report)


def _file_payload(target: Target, path: Path, bot: str) -> Payload:
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise CannotSend(f"{target.text} can't be read ({error.strerror})") from error
    kind = "image" if target.language is None else target.language.name
    return Payload(
        bot=bot, kind=kind, size=size, sha256=sha256, pieces=lambda: _read(target, path), work=size
    )


def _read(target: Target, path: Path) -> Iterator[tuple[bytes, int]]:
    done = 0
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                done += len(piece)
                yield piece, done
    except OSError as error:
        raise CannotSend(f"{target.text} can no longer be read ({error.strerror}): send it again") from error


def _name_of(target: Target, tags: Sequence[str]) -> str:
    """Return a bot's default name, from the image's name or, given only an id, from the image's first tag."""
    if not _IMAGE_ID.fullmatch(target.text):
        return target.name
    return repository(tags[0]) if tags else ""


def _check_bot_name(bot: str) -> str:
    try:
        check_name(bot, "bot")
    except WrongName as error:
        raise CannotSend(f"{error}; choose one with --name") from error
    return bot
