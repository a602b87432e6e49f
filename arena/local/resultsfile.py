"""Files of results: a line of JSON that describes them, then a line per result.

Lines are only appended. A last line that a crash or a full disk has cut
off is ignored, and removed before the next one is written.
"""

import fcntl
import os
from io import FileIO
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from arena.protocol.decoding import prepared


class WrongResults(ValueError):
    """A file is not a results file, or has results for something else. The message says what to do."""


class Header(Protocol):
    """The first line of a file."""

    @property
    def format(self) -> str:
        """The file's format; the current one in a new header. It is the header's first field."""


H = TypeVar("H", bound=Header)


class ResultsFile:
    """A file of results, locked while it is open. Read it before writing, and close it after use.

    A missing file is created, and removed if nothing is written. Raises OSError, or WrongResults if another
    command is using the file.
    """

    def __init__(self, path: Path) -> None:
        self._is_new = not path.exists()
        if not self._is_new and not path.is_file():
            raise WrongResults(f"{path} is not a regular file: give another file for the results")
        self.path = path
        self._header: object = None  # to be written before the first result
        self._file = FileIO(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666), "r+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._file.close()
            raise WrongResults(f"another command is writing to {path}: wait until it finishes") from error

    def read(self, requested: H, line: object, kind: str) -> tuple[H, tuple[Any, ...]]:
        """Read the header and the results. If the file is empty, return ``requested`` and no results.

        ``line`` is the type of the results. ``kind`` names the kind of file in errors. Raises OSError, or
        WrongResults if the file contains something else.
        """
        self._file.seek(0)
        *lines, cut_off = self._file.readall().split(b"\n")
        self._file.seek(-len(cut_off), os.SEEK_END)
        if not lines:
            start = msgspec.json.encode({"format": requested.format})[:-1]
            if cut_off[: len(start)] != start[: len(cut_off)]:
                raise WrongResults(f"{self.path} is not a {kind}")
            self._header = requested
            return requested, ()
        try:
            header = msgspec.json.decode(lines[0], type=prepared(type(requested)))
            results = tuple([msgspec.json.decode(each, type=prepared(line)) for each in lines[1:]])
        except msgspec.MsgspecError as error:
            raise WrongResults(f"{self.path} is not a {kind}: {error}") from error
        if header.format != requested.format:
            raise WrongResults(f"{self.path} has the format {header.format[:64]!r}, not {requested.format!r}")
        return header, results

    def write(self, result: object) -> None:
        """Append a line, after the header if the file has none. Raises OSError."""
        if self._header is not None:
            header, self._header = self._header, None
            self.write(header)
        self._file.truncate()  # remove an incomplete last line
        line = msgspec.json.encode(result) + b"\n"
        if self._file.write(line) != len(line):
            raise OSError(f"{self.path} can't be extended: the disk may be full")

    def close(self) -> None:
        """Close the file."""
        if self._is_new and not self._file.seek(0, os.SEEK_END):
            self.path.resolve().unlink(missing_ok=True)
        self._file.close()
