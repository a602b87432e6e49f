"""Restores a backup into an empty place. The database comes last, and at once: without it there is no arena.

A file in the data directory says that this is under way. Where it is left, because whoever restored was
killed, no arena starts there, and the next restore removes what is left and begins anew. Where the database
had come by then, all had, and the next restore of that backup has only to say so.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.backup.archive import Archive
from arena.backup.errors import BackupDamaged, BackupError, PlaceNotEmpty
from arena.backup.manifest import IMAGES, TABLES, UPLOADS
from arena.backup.note import UNFINISHED, Note, remove_note
from arena.backup.rows import unpacked
from arena.files import sync
from arena.intake.objects import Objects
from arena.intake.records import Records
from arena.speech import visible
from arena.store import NewAuditEntry, StoreError, loading

_MOST_WORDS: Final = 200

_MADE: Final = ("images", "uploads")
"""Folders that a restore fills in the data directory."""

_IMAGE_FOLDERS: Final = ("blobs/sha256", "images", "used", "bases")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a backup is restored to.

    Attributes:
        data: The data directory, whose lock this process holds.
        url: SQLAlchemy URL of the database.
        uploads: Folder of files on their way, in the data directory.
        objects: Opens the place where images are kept. What is there already stays: images are named by what
            they are.
    """

    data: Path
    url: str
    uploads: Path
    objects: Callable[[], Objects]


def restore(archive: Archive, place: Place, entry: NewAuditEntry, say: Callable[[str], None]) -> None:
    """Restore a backup: all of it, or nothing that could be taken for an arena.

    Args:
        archive: The backup.
        place: An empty one.
        entry: For the audit log.
        say: Is told what takes time.

    Raises:
        BackupDamaged: It is not as it was written.
        IntakeTrouble: Images can't be written, or are none.
        OSError: Something else can't be written.
        PlaceNotEmpty: There is something in the data directory.
        StoreError: The database is not empty, or can't be used.
    """
    note = Note(backup=f"{archive.manifest.install} {archive.manifest.made.isoformat()}", entry=entry)
    if (left := Note.left_in(place.data)) is not None and loading.holds(place.url, left.entry):
        remove_note(place.data)
        if left.backup == note.backup:
            say("all of it was there when an earlier restore of this backup ended")
            return
    _check_empty(place)
    say("checking all of the backup")
    archive.verify()
    with _unfinished(place, note):
        _uploads(archive, place.uploads)
        say("the images of bots")
        _images(archive, place.objects())
        say("the database")
        _database(archive, place.url, entry)


def _check_empty(place: Place) -> None:
    if not (place.data / UNFINISHED).is_file():
        for file in place.data.rglob("*"):
            if not file.is_dir() and file != place.data / "lock":
                raise PlaceNotEmpty(
                    f"{place.data} is not empty ({file.relative_to(place.data)}, …): name another folder in "
                    "ARENA_DATA_DIR, or move away what is there"
                )
    loading.check_empty(place.url)


@contextmanager
def _unfinished(place: Place, note: Note) -> Iterator[None]:
    """Say in the data directory that it is not whole. An error removes what was made there."""
    if (place.data / UNFINISHED).exists():
        _remove(place)
    note.leave_in(place.data)
    try:
        yield
    except BaseException:
        # Where the database has come to be after all, or nobody can tell, the next restore finds out.
        if not loading.holds(place.url, note.entry):
            _remove(place)
            remove_note(place.data)
        raise
    remove_note(place.data)


def _remove(place: Place) -> None:
    """Remove what an unfinished restore has made. The folders stay: something may be mounted there."""
    for name in _MADE:
        folder = place.data / name
        for each in folder.iterdir() if folder.is_dir() else ():
            if each.is_dir():
                shutil.rmtree(each)
            else:
                each.unlink()
    loading.remove_unfinished(place.url)


def _uploads(archive: Archive, folder: Path) -> None:
    """Write the files on their way."""
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


def _images(archive: Archive, objects: Objects) -> None:
    """Write the images that aren't there yet, each record after what it names, as the backup has them.

    Raises:
        IntakeTrouble: They can't be written, or a record is none.
    """
    there = {f"{folder}/{name}" for folder in _IMAGE_FOLDERS for name in objects.sizes(folder)}
    for name in archive.manifest.names(IMAGES):
        if name not in there:
            objects.write(name, archive.pieces(f"{IMAGES}/{name}"))
    records = Records(objects)
    for name in archive.manifest.names(f"{IMAGES}/images"):
        records.image(f"sha256:{name}")


def _database(archive: Archive, url: str, entry: NewAuditEntry) -> None:
    """Load the database; it appears whole or not at all."""
    tables = {
        name: loading.TableToLoad(summary.columns, summary.rows, _rows(archive, name))
        for name, summary in archive.manifest.tables.items()
    }
    try:
        loading.load(url, archive.manifest.revision, tables, entry)
    except (BackupError, OSError, StoreError):
        raise
    except Exception as error:
        # Rows that no arena has written can fail anywhere on their way into one.
        raise BackupDamaged(f"the backup can't be restored: {_words(error)}. Take another one") from error


def _words(error: Exception) -> str:
    """Return what is wrong with rows, in a line."""
    words = visible(next(iter(str(error).splitlines()), "")[:_MOST_WORDS])
    return words if isinstance(error, ValueError) else f"{type(error).__name__}: {words}"


def _rows(archive: Archive, table: str) -> Callable[[], Iterator[list[list[Any]]]]:
    return lambda: unpacked(archive.pieces(f"{TABLES}/{table}"))
