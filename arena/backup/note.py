"""What a restore says of itself in the data directory, from before it makes anything until all is there."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import msgspec

from arena.files import sync
from arena.store import NewAuditEntry

UNFINISHED: Final = "restoring"
"""The file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """That of one restore.

    Attributes:
        backup: Which one is restored.
        entry: By which its database is known: the last row that is written.
    """

    backup: str
    entry: NewAuditEntry

    @classmethod
    def left_in(cls, folder: Path) -> Self | None:
        """Return the one that is there, or None where there is none, or none that is whole."""
        try:
            return msgspec.json.decode((folder / UNFINISHED).read_bytes(), type=cls)
        except (FileNotFoundError, ValueError):  # who was killed while writing it has made nothing else
            return None

    def leave_in(self, folder: Path) -> None:
        """Write it, so that it is on the disk before anything else is."""
        file = folder / UNFINISHED
        file.touch(mode=0o600)
        file.write_bytes(msgspec.json.encode(self))
        sync(file)
        sync(folder)


def remove_note(folder: Path) -> None:
    """Remove whatever note is there: what is in the folder is whole, or nothing is."""
    (folder / UNFINISHED).unlink()
    sync(folder)
