"""Bots in Python."""

from pathlib import Path
from typing import Final

from arena.languages.language import BaseRecipe, Language, Parents, Starter
from arena.languages.packages import wheels
from arena.languages.python.stack import find_failure, find_position

_HERE: Final = Path(__file__).parent

PYTHON: Final = Language(
    name="python",
    title="Python",
    file="bot.py",
    suffixes=(".py",),
    interpreter=("python3",),
    sample="greedy",
    # Python 3.11, the SDK and packages for bots, but no server code.
    recipe=BaseRecipe(
        folder=_HERE / "image",
        packages=(wheels(),),
        content="grpcio, protobuf and NumPy",
        library=("arena/__init__.py", "arena/rules", "arena/wire", "arena/sdk"),
        parents=Parents(
            name="python",
            official="python:3.11-slim-bookworm",
            packages=(
                "libpython3.11-stdlib",
                "libstdc++6",  # compiled wheels depend on it
                "python3-minimal",
            ),
            official_arguments={"SITE": "/usr/local/lib/python3.11/site-packages"},
            debian_arguments={"SITE": "/usr/local/lib/python3.11/dist-packages"},
        ),
    ),
    starter=Starter(folder=_HERE / "starter"),
    find_failure=find_failure,
    missing_module="ModuleNotFoundError|ImportError",
    find_position=find_position,
)
