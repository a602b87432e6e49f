"""Temporary folders with short paths, since a socket's path may have at most 107 bytes, and small disks."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def short_folder() -> Iterator[Path]:
    """Create a folder, and remove it at the end."""
    with tempfile.TemporaryDirectory(prefix="k-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextmanager
def small_disk(parent: Path, *, size: int, inodes: int = 0) -> Iterator[Path]:
    """Mount a disk of this size in bytes, and yield its folder. 0 inodes mean no limit. Requires root."""
    folder = parent / "disk"
    folder.mkdir()
    options = f"size={size},nr_inodes={inodes}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "kaiten-test", str(folder)], check=True)  # noqa: S603, S607 - our own words; on PATH
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)  # noqa: S603, S607 - our own words; on PATH


def files_in(folder: Path) -> list[Path]:
    """Return the files and sockets in a folder and its subfolders, some of which may be removed meanwhile.

    With ``Path.rglob``, a folder that disappears during the search is an error.
    """
    return [Path(parent, name) for parent, _, names in os.walk(folder) for name in names]
