"""The folder of received files: complete ones, named after their submissions, and partial ones.

A complete file is renamed before its submission is recorded, so a killed process can leave a file without a
submission. :meth:`Uploads.prune` removes such files.
"""

import errno
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO, Final

from arena.languages.registry import UploadKind
from arena.platform.files import Disk, sync


class UploadRefused(Exception):
    """A file was rejected, and no part of it is stored. The message is for its sender."""


class TooLarge(UploadRefused):
    """The file exceeds the limit for its kind."""


class Damaged(UploadRefused):
    """The file is incomplete, or differs from what its sender declared."""


class SlotLost(UploadRefused):
    """The file arrived slowly, and another file needed its slot."""


class NoRoom(UploadRefused):
    """The arena can't receive a file now. The file itself is fine."""


class DiskFull(NoRoom):
    """The arena's disk is too full."""


GRACE: Final = timedelta(minutes=10)
"""Time from the last write until a file without a submission is pruned."""

_PART: Final = ".part"
_DISK_FULL_ERRORS: Final = (errno.ENOSPC, errno.EDQUOT)


class Uploads:
    """Received files in a folder that only this process's user can access.

    Several processes may share the folder, which is created if it doesn't exist.
    """

    def __init__(self, folder: Path, disk: Disk) -> None:
        self._folder = folder
        self.disk = disk

    def path(self, id_: str, kind: UploadKind) -> Path:
        """Return the path of a submission's file, whether it exists or not."""
        return self._folder / f"{id_}{kind.suffix}"

    @contextmanager
    def writing(self, id_: str) -> Iterator[BinaryIO]:
        """Open a new file. It is removed at the end of the context unless :meth:`keep` was called.

        Raises NoRoom if the file can't be created.
        """
        part = self._part(id_)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = part.open("xb")
        except OSError as error:
            raise unwritten(error) from error
        try:
            yield file
        finally:
            part.unlink(missing_ok=True)
            with suppress(OSError):  # on a full disk, flushing an incomplete file's buffer fails
                file.close()

    def keep(self, file: BinaryIO, id_: str, kind: UploadKind) -> None:
        """Store a complete file durably, so that it survives a host crash."""
        file.flush()
        os.fsync(file.fileno())
        self._part(id_).rename(self.path(id_, kind))
        sync(self._folder)

    def remove(self, id_: str, kind: UploadKind) -> None:
        """Remove a submission's file if it exists."""
        with suppress(FileNotFoundError):
            self.path(id_, kind).unlink()

    def check_room(self, size: int) -> None:
        """Check that ``size`` more bytes fit on the disk. Raises DiskFull if they don't."""
        if not self.disk.has_room(size):
            raise DiskFull(
                "the arena's disk is too full for this file: try again later, or inform the operator"
            )

    def prune(self, received: Collection[str], now: datetime) -> None:
        """Remove old files, except those with names in ``received``."""
        for file in sorted(self._folder.iterdir()) if self._folder.is_dir() else ():
            with suppress(FileNotFoundError):  # its writer has just finished
                written = datetime.fromtimestamp(file.lstat().st_mtime, UTC)
                if file.name not in received and now - written >= GRACE:
                    file.unlink()

    def _part(self, id_: str) -> Path:
        return self._folder / f"{id_}{_PART}"


def unwritten(error: OSError) -> NoRoom:
    """Return the error for the sender of a file that can't be written."""
    if error.errno in _DISK_FULL_ERRORS:
        return DiskFull("the arena's disk is full: try again later, or inform the operator")
    return NoRoom(f"the arena could not write the file ({error.strerror}): try again later")
