"""Temporary folders with short paths, since a socket's path may have at most 107 bytes."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def short_folder() -> Iterator[Path]:
    """Create a folder, and remove it at the end."""
    with tempfile.TemporaryDirectory(prefix="k-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def files_in(folder: Path) -> list[Path]:
    """Return the files and sockets in a folder and its subfolders, some of which may be removed meanwhile.

    With ``Path.rglob``, a folder that disappears during the search is an error.
    """
    return [Path(parent, name) for parent, _, names in os.walk(folder) for name in names]
