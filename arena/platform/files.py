"""Durable files, the marker of an unfinished restore, free disk space, and the folder of shared files."""

import os
import sys
from pathlib import Path
from typing import Final

UNFINISHED_RESTORE: Final = "restoring"
"""A file in a data directory that marks a restore as unfinished. It exists from before the restore's first
write until the restore's end."""


def sync(path: Path) -> None:
    """Flush a file, or the entries of a folder, to disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


_GIB: Final = 1024**3
_MIN_FREE: Final = 5 * _GIB
_MIN_FREE_INODES: Final = 10_000
_MIN_FREE_DIVISOR: Final = 10


class Disk:
    """The disk that contains a folder. Other processes use it too, so its free space may change at any time.

    ``folder`` needn't exist yet. ``least_free`` bytes must stay free; by default 5 GiB, or a tenth of the
    disk if that is less. In any case, 10,000 inodes must stay free, or a tenth of all inodes if that is less.
    """

    def __init__(self, folder: Path, least_free: int | None = None) -> None:
        self._folder = folder.absolute()
        self._least_free = least_free

    def has_room(self, size: int = 0) -> bool:
        """Return True if enough space stays free after writing ``size`` bytes."""
        existing_folder = next(each for each in (self._folder, *self._folder.parents) if each.is_dir())
        found = os.statvfs(existing_folder)
        least = self._least_free
        if least is None:
            least = min(_MIN_FREE, found.f_blocks * found.f_frsize // _MIN_FREE_DIVISOR)
        # Some file systems have no fixed number of inodes, and report zero.
        least_inodes = min(_MIN_FREE_INODES, found.f_files // _MIN_FREE_DIVISOR)
        return found.f_bavail * found.f_frsize - size >= least and found.f_favail >= least_inodes


def shared_folder() -> Path:
    """Return the folder of shared files, such as sample bots: the source tree or the wheel's data folder."""
    root = Path(__file__).resolve().parents[2]
    if (root / "pyproject.toml").is_file():
        return root
    return Path(sys.prefix) / "share" / "kaiten-arena"
