"""The disk of the data directory, and how much of it stays free: results of what is played need some."""

import shutil
from pathlib import Path
from typing import Final

_GIB: Final = 1024**3
_LEAST_FREE: Final = 5 * _GIB
_LEAST_SHARE: Final = 10


class Disk:
    """A disk. Processes may share it, so what is true of it may change at any time.

    Args:
        folder: That is on it; it needs not be there yet.
        least_free: Bytes that stay free; without it the smaller of 5 GiB and a tenth of the disk.
    """

    def __init__(self, folder: Path, least_free: int | None = None) -> None:
        self._folder = folder.absolute()
        self._least_free = least_free

    def has_room(self, size: int = 0) -> bool:
        """Tell whether so many bytes more leave enough free."""
        there = next(each for each in (self._folder, *self._folder.parents) if each.is_dir())
        usage = shutil.disk_usage(there)
        least = self._least_free
        if least is None:
            least = min(_LEAST_FREE, usage.total // _LEAST_SHARE)
        return usage.free - size >= least
