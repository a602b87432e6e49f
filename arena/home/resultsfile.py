"""Files of results: a line of JSON that describes them, then a line per result.

Lines are only appended. A last line that a crash or a full disk has cut off is ignored.
"""

import fcntl
import os
from io import FileIO
from pathlib import Path

import msgspec


class WrongResults(ValueError):
    """A file is not a results file, or has results for something else. The message says what to do."""


class ResultsFile:
    """A file of results, open for appending, with a lock. Close it after use.

    Raises OSError, or WrongResults if another command is using it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = FileIO(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666), "r+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._file.close()
            raise WrongResults(f"another command is writing to {path}: wait until it ends") from error
        self._file.truncate(self._file.readall().rfind(b"\n") + 1)
        self._file.seek(0, os.SEEK_END)

    def begin(self, header: object) -> None:
        """Write the header unless the file already has a complete line. Raises OSError."""
        if not self._file.tell():
            self.write(header)

    def write(self, content: object) -> None:
        """Append a line. Raises OSError."""
        line = msgspec.json.encode(content) + b"\n"
        if self._file.write(line) != len(line):
            raise OSError(f"{self._path} can't be extended: the disk may be full")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_results(path: Path) -> tuple[bytes, ...]:
    """Return the complete lines of a file, or no lines if the file doesn't exist.

    Raises OSError, or WrongResults if it isn't a regular file.
    """
    if not path.exists():
        return ()
    if not path.is_file():
        raise WrongResults(f"{path} is not a regular file: give another file for the results")
    return tuple(path.read_bytes().split(b"\n")[:-1])
