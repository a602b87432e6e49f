"""The description of a programming language."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from arena.languages.packages import Packages

BOT_FOLDER: Final = "/bot"
"""The folder that contains a bot's file in the bot's image; also the bot's working directory."""

DEBIAN_RELEASE: Final = "bookworm"

MAX_SOURCE_BYTES: Final = 1024 * 1024
"""Maximum size of a bot that consists of a single source file."""


def source_problem(source: bytes) -> str | None:
    """Return why the arena rejects a source file with this content, and what to do; None if it doesn't."""
    if len(source) > MAX_SOURCE_BYTES:
        return (
            f"the source file is larger than the limit of {MAX_SOURCE_BYTES >> 20} MiB: "
            "submit an image archive instead"
        )
    if not source.strip():
        return "the source file is empty: submit one with your bot's code"
    if b"\0" in source:
        return "the source file contains a NUL byte, so it is not text: submit the bot's source code"
    try:
        source.decode()
    except UnicodeDecodeError as error:
        return f"the source file is not UTF-8 (byte {error.start}): save it as UTF-8"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parents:
    """The two alternative parents of an image, which have equivalent content, and their build arguments."""

    name: str  # part of the images' names, such as `python`
    official: str  # the image in a registry
    packages: tuple[str, ...]  # Debian packages to install in addition to the common ones
    left_out: tuple[str, ...] = ()  # patterns of unneeded files in these packages
    official_arguments: Mapping[str, str] = field(default_factory=dict)
    debian_arguments: Mapping[str, str] = field(default_factory=dict)

    @property
    def recorded(self) -> str:
        """Local tag of the image pulled from the registry."""
        return f"kaiten/registry-{self.name}:latest"

    @property
    def debian_image(self) -> str:
        """Name of the image made from Debian packages."""
        return f"kaiten/debian-{self.name}:{DEBIAN_RELEASE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseRecipe:
    """The inputs of a base image, which contains everything except a bot's own files.

    The build context contains ``library``, the Dockerfile, and a folder with the fetched packages.
    """

    folder: Path  # contains the Dockerfile and the pins
    packages: tuple[Packages, ...]  # pinned by files in the folder
    content: str  # names of the main packages, for progress messages
    library: tuple[str, ...]  # the arena's own files and folders, relative to the parent of `arena`
    parents: Parents


class Failure(NamedTuple):
    """An error that a bot printed, and its place in the bot's code (None if unknown)."""

    error: str
    place: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A programming language for bots that consist of a single source file.

    A bot's image is the language's base image plus the bot's file in BOT_FOLDER.
    """

    name: str  # as in the names of folders and images, such as `python`
    title: str  # display name, such as `Python`
    file: str  # name of every bot's file in BOT_FOLDER
    suffixes: tuple[str, ...]  # suffixes of source files, in lower case and with the dot
    interpreter: tuple[str, ...]  # command that runs a file
    sample: str  # folder of the sample bot that the site's editor starts from
    recipe: BaseRecipe
    find_failure: Callable[[str], Failure | None]  # finds the last error in a bot's stderr
    missing_module: str  # a regular expression for words in errors about missing modules
    # Finds a late bot's position in its stderr. The default is for libraries that print no stack when late.
    find_position: Callable[[str], str | None] = lambda _: None

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
