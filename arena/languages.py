"""The languages in which a bot can be one source file.

For each the arena has a base image with its library. A bot is the base image with its file in BOT_FOLDER.
"""

from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

BOT_FOLDER: Final = "/bot"
"""Where a bot's file lies in its image; also the folder it is started in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A language of bots.

    Attributes:
        name: As in the names of folders and images, such as ``python``.
        title: For people, such as ``Python``.
        file: What a bot's file is called in BOT_FOLDER.
        suffixes: Of a source file, in lower case and with the dot.
        interpreter: The words that start a file.
    """

    name: str
    title: str
    file: str
    suffixes: tuple[str, ...]
    interpreter: tuple[str, ...]

    @property
    def base_image(self) -> str:
        """The name of the arena's image for its bots."""
        return f"kaiten/bot-base-{self.name}:latest"

    @property
    def path(self) -> str:
        """Where a bot's file lies in its image."""
        return f"{BOT_FOLDER}/{self.file}"

    @property
    def command(self) -> tuple[str, ...]:
        """The words that start a bot."""
        return (*self.interpreter, self.path)


PYTHON: Final = Language(
    name="python", title="Python", file="bot.py", suffixes=(".py",), interpreter=("python3",)
)
JAVASCRIPT: Final = Language(
    name="javascript", title="JavaScript", file="bot.js", suffixes=(".js", ".mjs"), interpreter=("node",)
)
LANGUAGES: Final = (PYTHON, JAVASCRIPT)


def language_of(file_name: str) -> Language | None:
    """Return the language of a source file by its suffix, None where it has none of LANGUAGES."""
    suffix = PurePath(file_name).suffix.lower()
    return next((language for language in LANGUAGES if suffix in language.suffixes), None)
