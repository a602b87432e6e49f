"""Makes a backup of an arena that may be running.

The rows are all of one moment. A file on its way is there longer than its submission is in that stage, and an
image is kept before anything refers to it. So files are copied until there was a snapshot of which all are
there, and images after it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final

from arena import __version__
from arena.backup.archive import CHUNK
from arena.backup.manifest import FORMAT, IMAGES, TABLES, UPLOADS, Manifest, TableSummary
from arena.backup.rows import packed
from arena.backup.writing import ArchiveWriter
from arena.intake import IntakeTrouble
from arena.intake.objects import Objects
from arena.intake.pruning import blobs_of
from arena.intake.store import ImageStore
from arena.store import Snapshot, Store, TableRows
from arena.submitting.stages import Stage
from arena.submitting.uploads import Uploads

_TRIES: Final = 5
"""Snapshots, before a file that none of them finds is taken for lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What there is to keep.

    Attributes:
        store: The database.
        images: The images of submitted bots.
        objects: Where these are kept.
        uploads: Files on their way.
        install: Id of the installation.
    """

    store: Store
    images: ImageStore
    objects: Objects
    uploads: Uploads
    install: str


def make(sources: Sources, file: BinaryIO, now: datetime, say: Callable[[str], None]) -> Manifest:
    """Write a backup.

    Args:
        sources: What there is to keep. All of it may be in use.
        file: Where it goes; it needs not be seekable.
        now: UTC.
        say: Is told what takes time.

    Raises:
        IntakeTrouble: An image can't be read.
        OSError: The file can't be written.
        StoreError: The database can't be used.
    """
    with ArchiveWriter(file) as archive:
        with _with_files(sources, archive) as snapshot:
            say("the database")
            tables = {table.name: _write(archive, table) for table in snapshot.tables}
            revision = snapshot.revision
        say("the images of bots")
        _copy_images(sources, archive)
        manifest = Manifest(
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


@contextmanager
def _with_files(sources: Sources, archive: ArchiveWriter) -> Iterator[Snapshot]:
    """Give a snapshot of which all files on their way have been copied."""
    for tries in range(1, _TRIES + 1):
        with sources.store.snapshot() as snapshot:
            missing = [
                file
                for each in snapshot.on_their_way()
                if each.stage is Stage.RECEIVED
                and (name := f"{UPLOADS}/{(file := sources.uploads.path(each.id, each.kind)).name}")
                not in archive.parts
                and not _copy(archive, name, file)
            ]
            # One that is missing was taken in meanwhile, which a later snapshot knows.
            if not missing or tries == _TRIES:
                yield snapshot
                return


def _copy(archive: ArchiveWriter, name: str, file: Path) -> bool:
    """Copy a file; tell whether it was there."""
    try:
        with file.open("rb") as source:
            archive.add(name, iter(lambda: source.read(CHUNK), b""))
    except FileNotFoundError:
        return False
    return True


def _write(archive: ArchiveWriter, table: TableRows) -> TableSummary:
    rows = 0

    def counted() -> Iterator[list[list[object]]]:
        nonlocal rows
        for batch in table.batches():
            rows += len(batch)
            yield batch

    archive.add(f"{TABLES}/{table.name}", packed(counted()))
    return TableSummary(columns=table.columns, rows=rows)


def _copy_images(sources: Sources, archive: ArchiveWriter) -> None:
    """Copy all images, but for those that are pruned meanwhile: nothing needs these."""
    copied = {id_ for id_ in sorted(sources.images.records.ids()) if _copy_image(sources, archive, id_)}
    for name in sources.objects.sizes("bases"):
        noted = sources.objects.read(f"bases/{name}")
        if noted is not None and noted.decode(errors="replace") in copied:
            archive.add(f"{IMAGES}/bases/{name}", [noted])


def _copy_image(sources: Sources, archive: ArchiveWriter, id_: str) -> bool:
    """Copy an image, its record last; tell whether it was there to the end.

    Raises:
        IntakeTrouble: It is damaged, or can't be read.
    """
    records, objects = sources.images.records, sources.objects
    image = records.image(id_)
    if image is None:
        return False
    try:
        for digest, size in blobs_of(image).items():
            name = f"{IMAGES}/blobs/sha256/{_hex(digest)}"
            if name not in archive.parts:
                archive.add(name, sources.images.blob(digest, size))
    except IntakeTrouble:
        if records.image(id_) is None:
            return False
        raise
    for folder in ("used", "images"):
        note = objects.read(f"{folder}/{_hex(id_)}")
        if note is not None:
            archive.add(f"{IMAGES}/{folder}/{_hex(id_)}", [note])
    return f"{IMAGES}/images/{_hex(id_)}" in archive.parts


def _hex(digest: str) -> str:
    return digest.removeprefix("sha256:")
