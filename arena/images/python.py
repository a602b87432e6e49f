"""The base image of bots in Python: Python 3.11, its packages and the SDK, nothing of the server."""

from collections.abc import Iterator
from pathlib import Path

import arena
from arena.botfiles import samples
from arena.images.debian import Root
from arena.images.parent import Parents
from arena.images.recipe import Recipe
from arena.images.wheels import PINS, fetch_wheels
from arena.languages import PYTHON

_OFFICIAL = "python:3.11-slim-bookworm"
_PACKAGES = ("rules", "wire", "sdk")  # of arena, with its own __init__.py

PARENTS = Parents(
    official=_OFFICIAL,
    root=Root(
        name=PYTHON.name,
        packages=(
            "libpython3.11-stdlib",
            "libstdc++6",  # compiled wheels take it as given
            "python3-minimal",
        ),
        official=_OFFICIAL,
    ),
    official_arguments={"SITE": "/usr/local/lib/python3.11/site-packages"},
    root_arguments={"SITE": "/usr/local/lib/python3.11/dist-packages"},
)


def recipe() -> Recipe:
    """Return the recipe beside the sample bots."""
    return Recipe(
        language=PYTHON,
        parents=PARENTS,
        folder=samples() / "base-python",
        pins=(PINS,),
        packages="grpcio, protobuf and NumPy",
        fetch=fetch_wheels,
        packed="wheels",
        library=_library,
    )


def _library(_folder: Path) -> Iterator[tuple[Path, str]]:
    root = Path(arena.__file__).parent
    yield root / "__init__.py", "arena/__init__.py"
    for package in _PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            yield path, f"arena/{path.relative_to(root).as_posix()}"
