"""The known languages, and the kinds of files that can be uploaded."""

from enum import StrEnum
from pathlib import Path, PurePath
from typing import Final

from arena.languages.javascript import JAVASCRIPT
from arena.languages.language import Language
from arena.languages.python import PYTHON

LANGUAGES: Final = (PYTHON, JAVASCRIPT)

SOURCE_SUFFIXES: Final = ", ".join(suffix for language in LANGUAGES for suffix in language.suffixes)
"""The suffixes of all source files, for messages."""


def language_of(file_name: str) -> Language | None:
    """Return the language that a source file's suffix indicates, or None if no language has that suffix."""
    suffix = PurePath(file_name).suffix.lower()
    return next((language for language in LANGUAGES if suffix in language.suffixes), None)


_GZIP: Final = b"\x1f\x8b"
_TAR: Final = b"ustar"
_TAR_OFFSET: Final = 257


def is_archive(beginning: bytes) -> bool:
    """Return True if a file that begins with these bytes (512 suffice) is a tar or a gzip file."""
    return beginning.startswith(_GZIP) or beginning[_TAR_OFFSET:].startswith(_TAR)


class UploadKind(StrEnum):
    """The type of a file: an image, or source code in one of :data:`LANGUAGES`."""

    IMAGE = "image"
    PYTHON = "python"
    JAVASCRIPT = "javascript"

    @property
    def suffix(self) -> str:
        """The file name extension."""
        language = _BY_NAME.get(self.value)
        return ".tar" if language is None else language.suffixes[0]

    @property
    def label(self) -> str:
        """The display name."""
        language = _BY_NAME.get(self.value)
        return "Image" if language is None else language.title


_BY_NAME: Final = {language.name: language for language in LANGUAGES}


class StarterLanguage(StrEnum):
    """A programming language for new bots."""

    PYTHON = "python"
    JAVASCRIPT = "javascript"
    CPP = "cpp"

    @property
    def folder(self) -> Path:
        """The language's folder. Its subfolder ``starter`` contains the files for a new bot."""
        return Path(__file__).parent / self.value
