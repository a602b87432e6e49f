"""The folder of received files: whole ones under the id of their submission, and what is being written.

A file is written under another name and gets its own when it is whole, before its submission is written down.
So whoever is killed leaves a file that no submission has, which :meth:`Uploads.prune` removes.
"""

import errno
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO, Final

from arena.disk import Disk
from arena.files import sync
from arena.submitting.errors import DiskFull, NoRoom
from arena.submitting.stages import UploadKind

GRACE: Final = timedelta(minutes=10)
"""A file that nobody has written to for so long, and that no submission has, is nobody's."""

_PART: Final = ".part"
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)


class Uploads:
    """Received files. Processes may share the folder.

    Args:
        folder: Made where it is missing, for this process's user alone.
        disk: The one it is on.

    Attributes:
        disk: As given.
    """

    def __init__(self, folder: Path, disk: Disk) -> None:
        self._folder = folder
        self.disk = disk

    def path(self, id_: str, kind: UploadKind) -> Path:
        """Return where a submission's file is, or would be."""
        return self._folder / f"{id_}{kind.suffix}"

    @contextmanager
    def writing(self, id_: str) -> Iterator[BinaryIO]:
        """Give a new file; it is gone afterwards unless :meth:`keep` was called.

        Raises:
            NoRoom: It can't be made.
        """
        part = self._part(id_)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = part.open("xb")
        except OSError as error:
            raise unwritten(error) from error
        try:
            with file:
                yield file
        finally:
            part.unlink(missing_ok=True)

    def keep(self, file: BinaryIO, id_: str, kind: UploadKind) -> None:
        """Let a file that is whole stay, whatever happens to this machine."""
        file.flush()
        os.fsync(file.fileno())
        self._part(id_).rename(self.path(id_, kind))
        sync(self._folder)

    def remove(self, id_: str, kind: UploadKind) -> None:
        """Remove a submission's file, if it is there."""
        with suppress(FileNotFoundError):
            self.path(id_, kind).unlink()

    def check_room(self, size: int) -> None:
        """Make sure that so many bytes more fit on the disk.

        Raises:
            DiskFull: They don't.
        """
        if not self.disk.has_room(size):
            raise DiskFull(
                "the arena's disk is too full for this file: try again later, or tell its operator"
            )

    def prune(self, received: Collection[str], now: datetime) -> int:
        """Remove old files that no received submission has; return how many.

        Args:
            received: Names of the files that stay, without their folder.
            now: UTC.
        """
        removed = 0
        for file in sorted(self._folder.iterdir()) if self._folder.is_dir() else ():
            with suppress(FileNotFoundError):  # whoever wrote it has finished meanwhile
                written = datetime.fromtimestamp(file.lstat().st_mtime, UTC)
                if file.name not in received and now - written >= GRACE:
                    file.unlink()
                    removed += 1
        return removed

    def _part(self, id_: str) -> Path:
        return self._folder / f"{id_}{_PART}"


def unwritten(error: OSError) -> NoRoom:
    """Return what to tell the sender of a file that can't be written."""
    if error.errno in _FULL:
        return DiskFull("the arena's disk is full: try again later, or tell its operator")
    return NoRoom(f"the arena could not write the file ({error.strerror}): try again later")
