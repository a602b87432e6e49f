"""What an author names on the command line: a source file, an archive, a folder, or an image."""

import os
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from arena.client.errors import CannotSend
from arena.languages import Language, language_of

_ARCHIVES: Final = (".tar.gz", ".tgz", ".tar")
_GZIP: Final = b"\x1f\x8b"
_TAR: Final = b"ustar"
_TAR_AT: Final = 257
_NAME_OF_IMAGE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]*")


class TargetKind(StrEnum):
    """What it is."""

    SOURCE = "source"
    """A file in one of the languages that the arena wraps."""
    ARCHIVE = "archive"
    """What ``docker save`` wrote."""
    FOLDER = "folder"
    """With a Dockerfile."""
    IMAGE = "image"
    """The name or id of an image of this machine's engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A bot on its author's machine.

    Attributes:
        kind: What it is.
        text: As it was named.
        path: Of the file or folder; None for an image.
        language: Of a source file; None for the rest.
        name: What such a bot is called where its author says nothing else.
    """

    kind: TargetKind
    text: str
    path: Path | None
    language: Language | None
    name: str


def target_of(text: str) -> Target:
    """Find out what is meant. What is there as a file or folder is that; anything else is an image.

    Raises:
        CannotSend: It is nothing that could be a bot.
    """
    path = Path(text)
    try:
        if text and path.is_dir():
            return _folder(text, path)
        if text and path.exists():
            return _file(text, path)
    except OSError as error:
        raise CannotSend(f"{text} can't be read ({error.strerror})") from error
    if text.startswith((".", os.sep)) or language_of(text) or text.endswith(_ARCHIVES):
        raise CannotSend(f"there is no file or folder {text}")
    if not _NAME_OF_IMAGE.fullmatch(text):
        raise CannotSend(f"there is no file or folder {text!a}, and no image can have that name")
    return Target(kind=TargetKind.IMAGE, text=text, path=None, language=None, name=repository(text))


def repository(image: str) -> str:
    """Return the last word of an image's name: ``mybot`` of ``registry:5000/team/mybot:2@sha256:…``."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0]


def _folder(text: str, path: Path) -> Target:
    files = sorted(path.iterdir())
    if path / "Dockerfile" in files:
        name = path.resolve().name
        return Target(kind=TargetKind.FOLDER, text=text, path=path, language=None, name=name)
    source = next((file for file in files if language_of(file.name)), None)
    instead = f"name its source file ({source})" if source else "name a source file"
    raise CannotSend(f"the folder {text} has no Dockerfile: add one, or {instead}")


def _file(text: str, path: Path) -> Target:
    language = language_of(path.name)
    if language is not None:
        return Target(kind=TargetKind.SOURCE, text=text, path=path, language=language, name=path.stem)
    if not path.is_file():
        raise CannotSend(f"{text} is no file that could be sent: name a file, a folder or an image")
    if not _is_archive(path):
        raise CannotSend(
            f"{text} is neither a source file (.py, .js, .mjs) nor what docker save writes, a tar or a tar.gz"
        )
    ending = next((each for each in _ARCHIVES if path.name.endswith(each)), path.suffix)
    name = path.name.removesuffix(ending)
    return Target(kind=TargetKind.ARCHIVE, text=text, path=path, language=None, name=name)


def _is_archive(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(_TAR_AT + len(_TAR))
    return start.startswith(_GZIP) or start[_TAR_AT:] == _TAR
