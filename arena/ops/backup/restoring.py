"""Restores a backup into an empty arena.

The database is written last and atomically; without it, there is no arena.

A marker in the data directory shows that a restore is unfinished. If a restore is killed, the marker stays:
no arena starts in this directory, and the next restore removes the leftovers and starts over. If the killed
restore had already written the database, it was complete, and the next restore of the same backup only
reports that.
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
    BackupError,
    one_line,
    unpacked,
)
from arena.platform.files import UNFINISHED_RESTORE, sync
from arena.protocol.decoding import prepared


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreMarker:
    """The marker of one restore."""

    backup: str  # identifies the backup
    entry: NewAuditEntry  # the last row that the restore writes; identifies its database

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Return the folder's marker, or None if it is missing or incomplete."""
        try:
            return msgspec.json.decode((folder / UNFINISHED_RESTORE).read_bytes(), type=prepared(cls))
        except (FileNotFoundError, ValueError):  # a restore was killed while writing it
            return None

    def write(self, folder: Path) -> None:
        """Write the marker durably, before anything else is written."""
        file = folder / UNFINISHED_RESTORE
        file.touch(mode=0o600)
        file.write_bytes(msgspec.json.encode(self))
        sync(file)
        sync(folder)


def remove_marker(folder: Path) -> None:
    """Remove the folder's marker once the restore is complete or fully undone."""
    (folder / UNFINISHED_RESTORE).unlink()
    sync(folder)


_RESTORED_FOLDERS: Final = ("images", "uploads")
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

    ``place`` must be empty, except for an unfinished restore. ``entry`` is for the audit log; ``say``
    receives progress messages. Raises OSError. Raises BackupError if the backup is damaged or the data
    directory is not empty, IntakeError if images are invalid or can't be written, and StoreError if the
    database is not empty or can't be used.
    """
    marker = RestoreMarker(
        backup=f"{archive.manifest.install} {archive.manifest.made.isoformat()}", entry=entry
    )
    if (earlier := RestoreMarker.read(place.data)) is not None and dump.was_loaded(place.url, earlier.entry):
        remove_marker(place.data)
        if earlier.backup == marker.backup:
            say("an earlier restore of this backup was already complete")
            return
    _check_empty(place)
    say("verifying the backup")
    archive.verify()
    with _marked_unfinished(place, marker):
        _restore_uploads(archive, place.uploads)
        say("restoring the bots' images")
        _restore_images(archive, place.objects())
        say("restoring the database")
        _restore_database(archive, place.url, entry)


def _check_empty(place: RestoreTarget) -> None:
    if not (place.data / UNFINISHED_RESTORE).is_file():
        for file in place.data.rglob("*"):
            if not file.is_dir() and file != place.data / "lock":
                raise BackupError(
                    f"{place.data} is not empty ({file.relative_to(place.data)}, …): set ARENA_DATA_DIR to "
                    "another folder, or move the files elsewhere"
                )
    dump.check_empty(place.url)


@contextmanager
def _marked_unfinished(place: RestoreTarget, marker: RestoreMarker) -> Iterator[None]:
    """Mark the restore as unfinished within the context. After an error, remove the written files."""
    if (place.data / UNFINISHED_RESTORE).exists():
        _remove_unfinished(place)
    marker.write(place.data)
    try:
        yield
    except BaseException:
        # If the database exists after all, or can't be queried, the next restore handles that.
        if not dump.was_loaded(place.url, marker.entry):
            _remove_unfinished(place)
            remove_marker(place.data)
        raise
    remove_marker(place.data)


def _remove_unfinished(place: RestoreTarget) -> None:
    """Remove the files of an unfinished restore. The folders are kept: they may be mount points."""
    for name in _RESTORED_FOLDERS:
        folder = place.data / name
        for each in folder.iterdir() if folder.is_dir() else ():
            if each.is_dir():
                shutil.rmtree(each)
            else:
                each.unlink()
    dump.remove_unfinished(place.url)


def _restore_uploads(archive: BackupArchive, folder: Path) -> None:
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


def _restore_images(archive: BackupArchive, objects: Objects) -> None:
    """Write the missing images in the backup's order, each record after the blobs it refers to."""
    existing = {f"{folder}/{name}" for folder in _IMAGE_FOLDERS for name in objects.sizes(folder)}
    for name in archive.manifest.names(IMAGES):
        if name not in existing:
            objects.write(name, archive.pieces(f"{IMAGES}/{name}"))
    records = Records(objects)
    for name in archive.manifest.names(f"{IMAGES}/images"):
        records.image(f"sha256:{name}")


def _restore_database(archive: BackupArchive, url: str, entry: NewAuditEntry) -> None:
    tables = {
        name: dump.TableToLoad(summary.columns, summary.rows, _rows(archive, name))
        for name, summary in archive.manifest.tables.items()
    }
    try:
        dump.load(url, archive.manifest.revision, tables, entry)
    except (BackupError, OSError, StoreError):
        raise
    except Exception as error:
        # Rows that the arena didn't write can cause any error.
        raise BackupError(f"the backup can't be restored ({one_line(error)}): use another one") from error


def _rows(archive: BackupArchive, table: str) -> Callable[[], Iterator[list[list[Any]]]]:
    return lambda: unpacked(archive.pieces(f"{TABLES}/{table}"))
