"""A bot, ready to be sent: what the site is told of it, and its bytes."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.client import images
from arena.client.errors import CannotSend
from arena.client.target import Target, TargetKind, repository
from arena.names import WrongName, check_name

_PIECE: Final = 256 * 1024

Report = Callable[[int, int], None]
"""Told the bytes that were sent so far, and about how many it will be in all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """A bot that can be sent.

    Attributes:
        bot: The bot's name.
        kind: ``image``, or the name of a language.
        size: Bytes of its file; None for an image, which is packed while it is sent.
        sha256: Of its file, hexadecimal; None for an image.
        pieces: Begins anew: yields bytes to send, and how many bytes of ``work`` are done with them.
        work: What ``pieces`` counts up to, about.
    """

    bot: str
    kind: str
    size: int | None
    sha256: str | None
    pieces: Callable[[], Iterator[tuple[bytes, int]]]
    work: int


@contextmanager
def parcel_of(target: Target, name: str | None) -> Iterator[Parcel]:
    """Give a target as a parcel. A folder is built first.

    Args:
        target: What is to be sent.
        name: The bot's; None takes the target's.

    Raises:
        CannotSend: It can't be sent, now or while it is.
    """
    if target.path is not None and target.kind is not TargetKind.FOLDER:
        yield _file(target, target.path, _checked(name or target.name))
        return
    image_name = target.text
    if target.path is not None:
        name = _checked(name or target.name)  # before anybody waits for a build
        image_name = images.build(target.path)
    with images.found(image_name) as image:
        yield Parcel(
            bot=_checked(name or _name_of(target, image.tags)),
            kind="image",
            size=None,
            sha256=None,
            pieces=lambda: images.packed(image),
            work=images.size_of(image),
        )


class Body:
    """A parcel's bytes on their way, counted and hashed.

    Args:
        parcel: What is sent.
        report: Told how far it is.

    Attributes:
        whole: Whether all of them have been sent.
    """

    def __init__(self, parcel: Parcel, report: Report) -> None:
        self._parcel = parcel
        self._report = report
        self._digest = hashlib.sha256()
        self._sent = 0
        self.whole = False

    def __iter__(self) -> Iterator[bytes]:
        """Yield the bytes in pieces."""
        for piece, done in self._parcel.pieces():
            self._digest.update(piece)
            self._sent += len(piece)
            yield piece
            self._report(self._sent, self._sent * max(self._parcel.work, done) // max(done, 1))
        self.whole = True

    @property
    def sha256(self) -> str:
        """The hash of what was sent so far, hexadecimal."""
        return self._digest.hexdigest()


class BodyOfFile(Body):
    """One whose length is known before, so that a site can refuse what is too large at once."""

    def __len__(self) -> int:
        return self._parcel.size or 0


def body_of(parcel: Parcel, report: Report) -> Body:
    """Return what to send of a parcel."""
    return Body(parcel, report) if parcel.size is None else BodyOfFile(parcel, report)


def _file(target: Target, path: Path, bot: str) -> Parcel:
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise CannotSend(f"{target.text} can't be read ({error.strerror})") from error
    kind = "image" if target.language is None else target.language.name
    return Parcel(bot=bot, kind=kind, size=size, sha256=sha256, pieces=lambda: _read(target, path), work=size)


def _read(target: Target, path: Path) -> Iterator[tuple[bytes, int]]:
    done = 0
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                done += len(piece)
                yield piece, done
    except OSError as error:
        raise CannotSend(f"{target.text} can't be read any more ({error.strerror})") from error


def _name_of(target: Target, tags: Sequence[str]) -> str:
    """Return what an image is called. An id says nothing of that, so the image's own names count then."""
    if not images.is_id(target.text):
        return target.name
    return repository(tags[0]) if tags else ""


def _checked(bot: str) -> str:
    try:
        check_name(bot, "bot")
    except WrongName as error:
        raise CannotSend(f"{error}; choose one with --name") from error
    return bot
