"""Bots in Python. Finds their errors in the untrusted text that Python and arena.sdk print on stderr."""

import re
from pathlib import Path
from typing import Final

from arena.languages.language import BaseRecipe, Failure, Language, Parents
from arena.languages.packages import wheels

_TRACEBACK_FRAME: Final = re.compile(r'^\s*File "(?P<file>[^"\n]+)", line (?P<line>\d+)(?:, in .*)?$')
_LIBRARY_FILES: Final = re.compile(
    r"^<frozen |/(?:site|dist)-packages/|/lib/python3|/arena/(?:sdk|sandbox|wire)/"
)
_EXCEPTION: Final = re.compile(r"^(?!Traceback )[A-Za-z_][\w.]*(?:: .*)?$")
_FAULTHANDLER_HEADER: Final = "Stack (most recent call first):"
_FATAL_ERROR: Final = re.compile(r"^Fatal Python error: .*", re.MULTILINE)
_FAULTHANDLER_FRAME: Final = re.compile(r'^  File "(?P<file>[^"\n]+)", line (?P<line>\d+) in (?P<name>.+)$')


def find_failure(stderr: str) -> Failure | None:
    """Return the last error, with the innermost line of the bot's code in it.

    A fatal error takes precedence over exceptions if it has such a line. Frames in Python itself, in packages
    and in the arena are skipped. An exception that has only frames in arena.sdk, for example because of what
    ``choose`` returned, has no place.
    """
    return _last_fatal_error(stderr) or _last_exception(stderr)


def find_position(stderr: str) -> str | None:
    """Return the innermost line of the bot's code in the last stack printed for a late decision, or None.

    arena.sdk prints such stacks.
    """
    _, found, stack = stderr.rpartition(f"{_FAULTHANDLER_HEADER}\n")
    for line in stack.splitlines() if found else ():
        match = _FAULTHANDLER_FRAME.match(line)
        if match is None:
            return None
        if not _LIBRARY_FILES.search(match["file"]):
            file = match["file"].rpartition("/")[2]
            return f"{file}, line {match['line']}, in {match['name']}"
    return None


def _last_fatal_error(stderr: str) -> Failure | None:
    errors = list(_FATAL_ERROR.finditer(stderr))
    place = find_position(stderr[errors[-1].end() :]) if errors else None
    return Failure(errors[-1].group(), place) if place is not None else None


def _last_exception(stderr: str) -> Failure | None:
    place: str | None = None
    found: Failure | None = None
    in_library = False
    lines = stderr.splitlines()
    for number, line in enumerate(lines):
        match = _TRACEBACK_FRAME.match(line)
        if match is not None:
            if not _LIBRARY_FILES.search(match["file"]):
                source = lines[number + 1].strip() if number + 1 < len(lines) else ""
                place = f"{match['file'].rpartition('/')[2]}, line {match['line']}: {source}"
            in_library = in_library or "/arena/sdk/" in match["file"]
        elif line.startswith("Traceback "):
            place, in_library = None, False
        elif (place is not None or in_library) and _EXCEPTION.match(line):
            found = Failure(line, place)
            place, in_library = None, False
    return found


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
    find_failure=find_failure,
    missing_module="ModuleNotFoundError|ImportError",
    find_position=find_position,
)
