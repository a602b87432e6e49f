"""Languages for bots that are a single source file.

For each language, the arena has a base image with the library for bots. A bot's image is the base image plus
the bot's file in BOT_FOLDER.
"""

from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

BOT_FOLDER: Final = "/bot"
"""Folder of a bot's file in its image, and its working directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A programming language for bots."""

    name: str  # as in the names of folders and images, such as `python`
    title: str  # display name, such as `Python`
    file: str  # name of every bot's file in BOT_FOLDER
    suffixes: tuple[str, ...]  # suffixes of source files, in lower case and with the dot
    interpreter: tuple[str, ...]  # command that runs a file
    sample: str  # folder of the sample bot that the site's editor starts from

    @property
    def base_image(self) -> str:
        """Name of the base image for its bots."""
        return f"kaiten/bot-base-{self.name}:latest"

    @property
    def path(self) -> str:
        """Path of a bot's file in its image."""
        return f"{BOT_FOLDER}/{self.file}"

    @property
    def command(self) -> tuple[str, ...]:
        """Command that starts a bot."""
        return (*self.interpreter, self.path)


PYTHON: Final = Language(
    name="python",
    title="Python",
    file="bot.py",
    suffixes=(".py",),
    interpreter=("python3",),
    sample="greedy",
)
JAVASCRIPT: Final = Language(
    name="javascript",
    title="JavaScript",
    file="bot.js",
    suffixes=(".js", ".mjs"),
    interpreter=("node",),
    sample="greedy-js",
)
LANGUAGES: Final = (PYTHON, JAVASCRIPT)

SOURCE_SUFFIXES: Final = ", ".join(suffix for language in LANGUAGES for suffix in language.suffixes)
"""The suffixes of all source files, for messages."""


def language_of(file_name: str) -> Language | None:
    """Return the language of a source file by its suffix, or None."""
    suffix = PurePath(file_name).suffix.lower()
    return next((language for language in LANGUAGES if suffix in language.suffixes), None)
