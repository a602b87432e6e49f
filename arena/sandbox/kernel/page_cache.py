"""Keeps images in the page cache, so that bots can't signal to each other by reading an image's files."""

import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

_FRESH_SECONDS: Final = 60.0
"""Time for which a layer is assumed to stay in memory."""

MAX_ENTRIES: Final = 65_536
MAX_BYTES: Final = 1024**3
"""Limits per layer. Larger layers are skipped: reading them for every match would cost too much. No submitted
image exceeds them."""

_PORTION: Final = 1024**2
_MEMINFO: Final = Path("/proc/meminfo")


class PageCacheWarmer:
    """Reads layers into the page cache. Thread-safe; no layer is read by two threads at the same time.

    ``clock`` is monotonic; ``available`` returns how much memory the host can spare, in bytes.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, available: Callable[[], int] | None = None
    ) -> None:
        self._clock = clock
        self._available = available or _available
        self._locks: dict[Path, threading.Lock] = {}
        self._tried: dict[Path, tuple[float, str]] = {}

    def warm(self, folders: Sequence[Path] | None) -> str:
        """Read the layers that an image's containers share.

        Return why they are not all in memory, or "" if they are. ``folders`` is None if the layers are
        unknown. A layer is skipped if it takes more than half of the memory that the host can spare.
        """
        if folders is None:
            return (
                "the location of the image's layers is unknown: "
                "the storage driver is neither overlay2 nor btrfs"
            )
        return next(filter(None, [self._warm(folder) for folder in folders]), "")

    def _warm(self, folder: Path) -> str:
        with self._locks.setdefault(folder, threading.Lock()):
            last, cold = self._tried.get(folder, (-math.inf, ""))
            if self._clock() - last >= _FRESH_SECONDS:
                try:
                    _read(_files(folder, self._available() // 2))
                    cold = ""
                except _TooLarge as error:
                    cold = str(error)
                except OSError as error:
                    cold = f"{error.filename} can't be read: {error.strerror}"
                self._tried[folder] = (self._clock(), cold)
            return cold


class _TooLarge(Exception):
    """A layer is too large to be kept in memory. The message names the limit."""


def _files(folder: Path, spare: int) -> list[str]:
    """Return the paths of a layer's files, and read its folders and symbolic links into the page cache.

    Raises _TooLarge if they exceed ``spare`` bytes or a layer's limit, or OSError if one can't be read.
    """
    found, size, count = list[str](), 0, 0
    linked: set[int] = set()  # inodes of the files with several names
    folders = [str(folder)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                count += 1
                if entry.is_symlink():
                    Path(entry.path).readlink()
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.is_file(follow_symlinks=False) and entry.inode() not in linked:
                    about = entry.stat(follow_symlinks=False)
                    if about.st_nlink > 1:
                        linked.add(about.st_ino)
                    found.append(entry.path)
                    size += about.st_size
                if count > MAX_ENTRIES or size > MAX_BYTES:
                    raise _TooLarge(
                        f"{folder} has more than {MAX_ENTRIES} files, folders and links, "
                        f"or more than {MAX_BYTES >> 20} MiB"
                    )
    if size > spare:
        raise _TooLarge(
            f"{folder} takes {size >> 20} MiB, but the host can spare only {spare >> 20} MiB for it"
        )
    return found


def _read(files: Sequence[str]) -> None:
    """Read files into the page cache. Raises OSError."""
    buffer = bytearray(_PORTION)
    for file in files:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            while os.readv(descriptor, [buffer]):
                pass
        finally:
            os.close(descriptor)


def _available() -> int:
    """Return MemAvailable in bytes, or 0 if unknown."""
    try:
        lines = _MEMINFO.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), 0)
