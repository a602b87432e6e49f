"""Restores a backup into an empty arena.

The database is written last and atomically; without it, there is no arena.
A note in the data directory marks an unfinished restore. If a restore is killed, the note stays: no arena
starts in this directory, and the next restore removes the leftovers and starts over. If the killed restore
had already written the database, it was complete, and the next restore of the same backup only reports that.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import msgspec

from arena.db import dump
from arena.db.audit import NewAuditEntry
from arena.db.errors import StoreError
from arena.images.objects import Objects
from arena.images.store import Records
from arena.ops.backup.archive import (
    IMAGES,
    TABLES,
    UPLOADS,
    BackupArchive,
    BackupDamaged,
    BackupError,
    TargetNotEmpty,
    one_line,
    unpacked,
)
from arena.platform.files import UNFINISHED_RESTORE, sync
from arena.protocol.decoding import prepared


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreMarker:
    """The note of one restore."""

    backup: str  # identifies the backup
    entry: NewAuditEntry  # the last row that the restore writes; identifies its database

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Return the folder's note, or None if it is missing or incomplete."""
        try:
            return msgspec.json.decode((folder / UNFINISHED_RESTORE).read_bytes(), type=prepared(cls))
        except (FileNotFoundError, ValueError):  # killed while writing the note, before anything else
            return None

    def write(self, folder: Path) -> None:
        """Write the note durably, before anything else is written."""
        file = folder / UNFINISHED_RESTORE
        file.touch(mode=0o600)
        file.write_bytes(msgspec.json.encode(self))
        sync(file)
        sync(folder)


def remove_marker(folder: Path) -> None:
    """Remove the folder's note once the restore is complete or fully undone."""
    (folder / UNFINISHED_RESTORE).unlink()
    sync(folder)


_MADE: Final = ("images", "uploads")
"""Folders in the data directory that a restore writes."""

_IMAGE_FOLDERS: Final = ("blobs/sha256", "images", "used", "bases")


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreTarget:
    """The destination of a restore."""

    data: Path  # the data directory, locked by this process
    url: str  # SQLAlchemy URL of the database
    uploads: Path  # folder of received files, in the data directory
    # Opens the image store. Existing images are kept: their names are hashes of their content.
    objects: Callable[[], Objects]


def restore(
    archive: BackupArchive, place: RestoreTarget, entry: NewAuditEntry, say: Callable[[str], None]
) -> None:
    """Restore a backup completely, or leave nothing that could be mistaken for an arena.

    ``place`` must be empty. ``entry`` is for the audit log; ``say`` receives progress messages. Raises
    OSError. Raises BackupDamaged if the backup was changed, IntakeError if images are invalid or can't be
    written, TargetNotEmpty if the data directory is not empty, and StoreError if the database is not empty or
    can't be used.
    """
    note = RestoreMarker(
        backup=f"{archive.manifest.install} {archive.manifest.made.isoformat()}", entry=entry
    )
    if (left := RestoreMarker.read(place.data)) is not None and dump.was_loaded(place.url, left.entry):
        remove_marker(place.data)
        if left.backup == note.backup:
            say("an earlier restore of this backup is complete")
            return
    _check_empty(place)
    say("verifying the backup")
    archive.verify()
    with _unfinished(place, note):
        _uploads(archive, place.uploads)
        say("restoring the bots' images")
        _images(archive, place.objects())
        say("restoring the database")
        _database(archive, place.url, entry)


def _check_empty(place: RestoreTarget) -> None:
    if not (place.data / UNFINISHED_RESTORE).is_file():
        for file in place.data.rglob("*"):
            if not file.is_dir() and file != place.data / "lock":
                raise TargetNotEmpty(
                    f"{place.data} is not empty ({file.relative_to(place.data)}, …): set ARENA_DATA_DIR to "
                    "another folder, or move the files away"
                )
    dump.check_empty(place.url)


@contextmanager
def _unfinished(place: RestoreTarget, note: RestoreMarker) -> Iterator[None]:
    """Mark the restore as unfinished within the context. After an error, remove the written files."""
    if (place.data / UNFINISHED_RESTORE).exists():
        _remove(place)
    note.write(place.data)
    try:
        yield
    except BaseException:
        # If the database exists after all, or can't be queried, the next restore handles that.
        if not dump.was_loaded(place.url, note.entry):
            _remove(place)
            remove_marker(place.data)
        raise
    remove_marker(place.data)


def _remove(place: RestoreTarget) -> None:
    """Remove the files of an unfinished restore. The folders are kept: they may be mount points."""
    for name in _MADE:
        folder = place.data / name
        for each in folder.iterdir() if folder.is_dir() else ():
            if each.is_dir():
                shutil.rmtree(each)
            else:
                each.unlink()
    dump.remove_unfinished(place.url)


def _uploads(archive: BackupArchive, folder: Path) -> None:
    """Write the received files."""
    names = archive.manifest.names(UPLOADS)
    if not names:
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in names:
        with (folder / name).open("xb") as file:
            for piece in archive.pieces(f"{UPLOADS}/{name}"):
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
    sync(folder)


def _images(archive: BackupArchive, objects: Objects) -> None:
    """Write the missing images in the backup's order, each record after the blobs it names."""
    there = {f"{folder}/{name}" for folder in _IMAGE_FOLDERS for name in objects.sizes(folder)}
    for name in archive.manifest.names(IMAGES):
        if name not in there:
            objects.write(name, archive.pieces(f"{IMAGES}/{name}"))
    records = Records(objects)
    for name in archive.manifest.names(f"{IMAGES}/images"):
        records.image(f"sha256:{name}")


def _database(archive: BackupArchive, url: str, entry: NewAuditEntry) -> None:
    """Load the database, atomically."""
    tables = {
        name: dump.TableToLoad(summary.columns, summary.rows, _rows(archive, name))
        for name, summary in archive.manifest.tables.items()
    }
    try:
        dump.load(url, archive.manifest.revision, tables, entry)
    except (BackupError, OSError, StoreError):
        raise
    except Exception as error:
        # Rows that no arena wrote can cause an error anywhere.
        raise BackupDamaged(f"the backup can't be restored ({one_line(error)}): use another one") from error


def _rows(archive: BackupArchive, table: str) -> Callable[[], Iterator[list[list[Any]]]]:
    return lambda: unpacked(archive.pieces(f"{TABLES}/{table}"))
