"""What a base image is made of: one recipe a language."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from arena.images.parent import Parents
from arena.languages import Language

DOCKERFILE = "Dockerfile"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What the base image of a language is made of.

    Attributes:
        language: Whose bots start from it.
        parents: What it may stand on.
        folder: Holds the Dockerfile and the pins.
        pins: Files of the folder that say exactly which packages go in.
        packages: The packages in words, for those who wait for them.
        fetch: Puts the pinned packages of a recipe's folder, for a processor in the engine's word, into a
            new folder.
        packed: What that folder is called in the build context. One of that name in the recipe's folder
            is taken as it is, as the server's image has it.
        library: Gives the files of the arena's own that go in, each with its path in the build context.
    """

    language: Language
    parents: Parents
    folder: Path
    pins: tuple[str, ...]
    packages: str
    fetch: Callable[[Path, str, Path], None]
    packed: str
    library: Callable[[Path], Iterator[tuple[Path, str]]]

    def files(self) -> Iterator[tuple[Path, str]]:
        """Give all files that decide what the image is, each with a name of its own."""
        for name in (DOCKERFILE, *self.pins):
            yield self.folder / name, f"recipe/{name}"
        yield from self.library(self.folder)
