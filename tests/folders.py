"""Temporary folders with short paths, since a socket's path may have at most 107 bytes."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def short_folder() -> Iterator[Path]:
    """Create a folder, and remove it at the end."""
    with tempfile.TemporaryDirectory(prefix="k-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
