"""Makes a backup of an arena, which may be running.

All rows are from one snapshot. A submission's file exists at least while its stage is ``received``, and an
image is stored before anything refers to it. Therefore, the received files are copied first. If a file no
longer exists, its submission has been inspected since the snapshot, and a new snapshot is opened. Next, the
rows are written, and finally, the images are copied.
"""

import hashlib
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO, Final, Self

import msgspec
from sqlalchemy.exc import DBAPIError

from arena import __version__
from arena.db.dump import Snapshot, TableRows
from arena.db.errors import StoreError
from arena.db.store import Store
from arena.images.image import IntakeError
from arena.images.keeper import stored_ids
from arena.images.objects import Objects
from arena.images.store import ImageStore, blobs_of
from arena.ops.backup.archive import (
    CHUNK,
    FORMAT,
    IMAGES,
    MANIFEST,
    TABLES,
    UPLOADS,
    BackupArchive,
    BackupError,
    BackupManifest,
    BackupPart,
    TableSummary,
    one_line,
    packed,
    unpacked,
)
from arena.protocol.submissions import Stage
from arena.submissions.uploads import Uploads

_COMPRESSION_LEVEL: Final = 1
"""Higher levels save little and take several times as long."""


class ArchiveWriter:
    """Writes a backup to a file, which need not be seekable; :meth:`end` completes it."""

    def __init__(self, file: BinaryIO) -> None:
        target: Any = file
        if not file.readable():
            # Don't seek: if stdout appends to a file, a rewritten header would land at the end of the file.
            target = SimpleNamespace(write=file.write, flush=file.flush)
        self._zip = zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION_LEVEL)
        self.parts: dict[str, BackupPart] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._zip.close()
        else:
            # Without a manifest, the file is not a backup. The first error is already being raised.
            with suppress(OSError, ValueError):
                self._zip.close()

    def add(self, name: str, pieces: Iterable[bytes]) -> None:
        """Write a part. If ``pieces`` raises an error, the part is not recorded."""
        digest, size = hashlib.sha256(), 0
        with self._zip.open(name, "w", force_zip64=True) as part:
            for piece in pieces:
                part.write(piece)
                digest.update(piece)
                size += len(piece)
        self.parts[name] = BackupPart(size=size, sha256=digest.hexdigest())

    def end(self, manifest: BackupManifest) -> None:
        """Write the manifest, which completes the backup."""
        with self._zip.open(MANIFEST, "w") as file:
            file.write(msgspec.json.format(msgspec.json.encode(manifest), indent=1))


_MAX_SNAPSHOTS: Final = 5
"""Number of snapshots after which a missing file is considered lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupSources:
    """The data to back up; ``objects`` is the object store that ``images`` uses."""

    store: Store
    images: ImageStore
    objects: Objects
    uploads: Uploads
    install: str


def make(sources: BackupSources, file: BinaryIO, now: datetime, say: Callable[[str], None]) -> BackupManifest:
    """Write a backup.

    The sources may be in use. ``file`` need not be seekable. ``now`` is in UTC; ``say`` receives progress
    messages. Raises IntakeError, OSError, StoreError, or BackupError if the database has data that can't be
    restored.
    """
    with ArchiveWriter(file) as archive:
        with _snapshot_with_files(sources, archive) as snapshot:
            say("copying the database")
            with _as_not_restorable():
                tables = {table.name: _write(archive, table) for table in snapshot.tables}
                snapshot.read_essentials(now)
            revision = snapshot.revision
        say("copying the bots' images")
        _copy_images(sources, archive)
        manifest = BackupManifest(
            format=FORMAT,
            made=now,
            version=__version__,
            install=sources.install,
            revision=revision,
            tables=tables,
            parts=archive.parts,
        )
        archive.end(manifest)
    return manifest


def read_back(file: BinaryIO) -> None:
    """Read a backup back from the disk, not from the page cache, and verify it.

    Raises OSError, or BackupError if it differs from what was written.
    """
    file.flush()
    os.fsync(file.fileno())
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)  # drop the page cache
    try:
        with BackupArchive.of(Path("the backup just written"), file) as archive:
            archive.verify()
    except BackupError as error:
        raise BackupError(
            "no backup was made: the file that was just written is damaged, because the disk returned data "
            "that differs from what was written. Check the disk, and write the backup to a different one"
        ) from error


@contextmanager
def _snapshot_with_files(sources: BackupSources, archive: ArchiveWriter) -> Iterator[Snapshot]:
    """Open a snapshot whose received files have all been copied."""
    for attempt in range(1, _MAX_SNAPSHOTS + 1):
        with sources.store.snapshot() as snapshot:
            missing = [
                file
                for each in snapshot.open_submissions()
                if each.stage is Stage.RECEIVED
                and (name := f"{UPLOADS}/{(file := sources.uploads.path(each.id, each.kind)).name}")
                not in archive.parts
                and not _copy(archive, name, file)
            ]
            # If a file is missing, its submission has been inspected since, as a later snapshot will show.
            if not missing or attempt == _MAX_SNAPSHOTS:
                yield snapshot
                return


def _copy(archive: ArchiveWriter, name: str, file: Path) -> bool:
    """Copy a file; return False if it doesn't exist."""
    try:
        with file.open("rb") as source:
            archive.add(name, iter(lambda: source.read(CHUNK), b""))
    except FileNotFoundError:
        return False
    return True


@contextmanager
def _as_not_restorable() -> Iterator[None]:
    """Raise BackupError for a value in the database that can't be restored."""
    try:
        yield
    except (BackupError, DBAPIError, OSError, StoreError):
        raise
    except Exception as error:
        # A value that the arena didn't write can cause any error.
        raise BackupError(
            f"no backup was made: the database has a value that can't be restored: {one_line(error)}. "
            "Keep earlier backups and a copy of the database"
        ) from error


def _write(archive: ArchiveWriter, table: TableRows) -> TableSummary:
    """Write a table, and read each batch of rows back as a restore will."""
    rows = 0

    def read_back(batches: Iterable[list[list[Any]]]) -> Iterator[bytes]:
        nonlocal rows
        for piece in packed(batches):
            for batch in unpacked([piece]):
                table.check(batch)
                rows += len(batch)
            yield piece

    # An SQLite connection can't be closed while a query is open.
    with closing(table.batches()) as batches:
        archive.add(f"{TABLES}/{table.name}", read_back(batches))
    return TableSummary(columns=table.columns, rows=rows)


def _copy_images(sources: BackupSources, archive: ArchiveWriter) -> None:
    """Copy all images except those that have been pruned in the meantime: they are no longer needed.

    Raises IntakeError if an image can't be copied or every image in use is missing.
    """
    ids = stored_ids(sources.store, sources.images)
    copied = {id_ for id_ in sorted(ids) if _copy_image(sources, archive, id_)}
    for name in sources.objects.sizes("bases"):
        content = sources.objects.read(f"bases/{name}")
        if content is not None and content.decode(errors="replace") in copied:
            archive.add(f"{IMAGES}/bases/{name}", [content])


def _copy_image(sources: BackupSources, archive: ArchiveWriter, id_: str) -> bool:
    """Copy an image, with its record last; return False if the image no longer exists by then."""
    records, objects = sources.images.records, sources.objects
    image = records.image(id_)
    if image is None:
        return False
    try:
        for digest, size in blobs_of(image).items():
            name = f"{IMAGES}/blobs/sha256/{_hex(digest)}"
            if name not in archive.parts:
                archive.add(name, sources.images.blob(digest, size))
    except IntakeError:
        if records.image(id_) is None:
            return False
        raise
    for folder in ("used", "images"):
        content = objects.read(f"{folder}/{_hex(id_)}")
        if content is not None:
            archive.add(f"{IMAGES}/{folder}/{_hex(id_)}", [content])
    return f"{IMAGES}/images/{_hex(id_)}" in archive.parts


def _hex(digest: str) -> str:
    return digest.removeprefix("sha256:")
