"""Backups: everything that an arena has to keep, in one file, and back from it into an empty place."""

from arena.backup.archive import Archive
from arena.backup.errors import BackupDamaged, BackupError, BackupNewer, PlaceNotEmpty
from arena.backup.making import Sources, make
from arena.backup.manifest import Manifest
from arena.backup.restoring import Place, restore

__all__ = [
    "Archive",
    "BackupDamaged",
    "BackupError",
    "BackupNewer",
    "Manifest",
    "Place",
    "PlaceNotEmpty",
    "Sources",
    "make",
    "restore",
]
