"""The base image of bots in JavaScript: Node 18, grpc-js, protobufjs and the library; no npm."""

from collections.abc import Iterator
from pathlib import Path

from arena.botfiles import samples
from arena.images.debian import Root
from arena.images.modules import PINS, fetch_modules
from arena.images.parent import Parents
from arena.images.recipe import Recipe
from arena.languages import JAVASCRIPT

_OFFICIAL = "node:18-bookworm-slim"  # of the version that Debian has
_LIBRARY = "kaiten"

_PARENTS = Parents(
    official=_OFFICIAL,
    root=Root(name=JAVASCRIPT.name, packages=("nodejs",), official=_OFFICIAL),
    official_arguments={},
    root_arguments={},
)


def recipe() -> Recipe:
    """Return the recipe beside the sample bots."""
    return Recipe(
        language=JAVASCRIPT,
        parents=_PARENTS,
        folder=samples() / "base-javascript",
        pins=PINS,
        packages="grpc-js and protobufjs",
        fetch=fetch_modules,
        packed="node_modules",
        library=_library,
    )


def _library(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted((folder / _LIBRARY).iterdir()):
        yield path, f"{_LIBRARY}/{path.name}"
