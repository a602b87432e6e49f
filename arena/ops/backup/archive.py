"""Reads a backup file and verifies it."""

import hashlib
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, Self

import msgspec

from arena.db.schema_revision import FIRST_REVISION, NO_UPGRADE, is_known
from arena.platform.text import visible
from arena.protocol.decoding import prepared

MANIFEST: Final = "manifest.json"
FORMAT: Final = "kaiten-backup/1"

TABLES: Final = "tables"
UPLOADS: Final = "uploads"
IMAGES: Final = "images"
BLOBS: Final = f"{IMAGES}/blobs/sha256"
"""The backup's folders, which contain the parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupPart:
    """A file in the backup; ``size`` is in bytes, and ``sha256`` is hexadecimal."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSummary:
    """A table of the database; its rows are in the part ``tables/NAME``."""

    columns: tuple[str, ...]  # names, in the order of a row's values
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupManifest:
    """The contents of a backup."""

    format: str  # `kaiten-backup/1`
    made: datetime  # when the backup began, UTC
    version: str  # version of the program that made it
    install: str  # id of the installation
    revision: str  # revision of the database's schema
    tables: dict[str, TableSummary]  # by name
    parts: dict[str, BackupPart]  # all parts except the manifest, by name

    def rows(self, table: str) -> int:
        """Return the number of rows in a table; 0 if the table did not exist yet."""
        return self.tables[table].rows if table in self.tables else 0

    def names(self, folder: str) -> tuple[str, ...]:
        """Return the names of the parts in a folder, without the folder's name, in archive order."""
        prefix = f"{folder}/"
        return tuple(name.removeprefix(prefix) for name in self.parts if name.startswith(prefix))


_LENGTH_BYTES: Final = 4
_MAX_BATCH_BYTES: Final = 256 * 1024 * 1024
"""Maximum size of a batch in bytes: several times what its rows can need."""


def packed(batches: Iterable[list[list[Any]]]) -> Iterator[bytes]:
    """Yield batches of rows as bytes, one batch at a time."""
    for batch in batches:
        content = msgspec.msgpack.encode(batch)
        yield len(content).to_bytes(_LENGTH_BYTES) + content


def unpacked(pieces: Iterable[bytes]) -> Iterator[list[list[Any]]]:
    """Yield the batches of rows in a stream of bytes, which may be split anywhere.

    Raises ValueError if the bytes are not batches.
    """
    buffer = bytearray()
    for piece in pieces:
        buffer += piece
        while len(buffer) >= _LENGTH_BYTES:
            end = _LENGTH_BYTES + int.from_bytes(buffer[:_LENGTH_BYTES])
            if end > _MAX_BATCH_BYTES:
                raise ValueError(f"a batch of rows is {end} bytes long (limit {_MAX_BATCH_BYTES})")
            if len(buffer) < end:
                break
            batch = msgspec.msgpack.decode(buffer[_LENGTH_BYTES:end], type=list[list[Any]])
            del buffer[:end]
            yield batch
    if buffer:
        raise ValueError("the last batch of rows is truncated")


_MAX_ERROR_LENGTH: Final = 200


class BackupError(Exception):
    """A backup can't be made or restored; the message says what to do."""


def one_line(error: Exception) -> str:
    """Describe an error caused by rows, on one line."""
    words = visible(next(iter(str(error).splitlines()), "")[:_MAX_ERROR_LENGTH])
    return words if isinstance(error, ValueError) else f"{type(error).__name__}: {words}"


CHUNK: Final = 1024 * 1024
_FORMAT_PREFIX: Final = "kaiten-backup/"
_MAX_MANIFEST_BYTES: Final = 256 * 1024 * 1024

_READ_ERRORS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    KeyError,
    EOFError,
    RuntimeError,  # a flipped bit can make a part appear to be encrypted or compressed differently
    ValueError,
)
"""Errors that zipfile raises for a damaged archive."""

_PART_NAME: Final = re.compile(
    rf"{TABLES}/[a-z_]+"
    rf"|{UPLOADS}/[0-9A-Za-z_-]+\.[a-z]+"
    rf"|{IMAGES}/(?:blobs/sha256|images|used|bases)/[0-9a-f]{{64}}"
)
"""Allowed names of parts. They can't point outside their folder."""


class BackupArchive:
    """A backup that is open for reading.

    Create it with :meth:`opened`, or from an open file with :meth:`of`.
    """

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        self._path = path
        self._zip = file
        with self._as_damaged():
            entry = self._zip.getinfo(MANIFEST)
            if entry.file_size > _MAX_MANIFEST_BYTES:
                raise BackupError(
                    f"{self._path} is not a backup (its manifest is {entry.file_size} bytes long): use "
                    "another file"
                )
            self.manifest = _parse_manifest(self._zip.read(entry), path)

    @classmethod
    @contextmanager
    def opened(cls, path: Path) -> Iterator[Self]:
        """Open a backup and read only its manifest.

        Raises OSError. Raises BackupError if the file is truncated or not a backup, or was made by a newer
        version of this program or by one from before the first release.
        """
        with path.open("rb") as file, cls.of(path, file) as archive:
            yield archive

    @classmethod
    @contextmanager
    def of(cls, path: Path, file: BinaryIO) -> Iterator[Self]:
        """Read the manifest like :meth:`opened`, but from an open file; errors name ``path``."""
        try:
            archive = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise BackupError(
                f"{path} is not a backup, or is incomplete ({error}): use another copy"
            ) from error
        with archive:
            yield cls(path, archive)

    def verify(self) -> None:
        """Read everything and compare it with the manifest.

        Raises BackupError if a part is missing or was changed.
        """
        for name in self.manifest.parts:
            for _ in self.pieces(name):
                pass

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield a part in pieces.

        Raises BackupError if the part is missing or damaged; damage may be found only after the last piece.
        """
        part = self.manifest.parts[name]
        digest, size = hashlib.sha256(), 0
        with self._as_damaged(), self._zip.open(name) as file:
            while piece := file.read(CHUNK):
                digest.update(piece)
                size += len(piece)
                if size > part.size:
                    break
                yield piece
        if (size, digest.hexdigest()) != (part.size, part.sha256):
            raise BackupError(f"{self._path} is damaged ({name}): use another copy")

    @contextmanager
    def _as_damaged(self) -> Iterator[None]:
        try:
            yield
        except _READ_ERRORS as error:
            raise BackupError(f"{self._path} is damaged ({error}): use another copy") from error


def _parse_manifest(content: bytes, path: Path) -> BackupManifest:
    """Return the manifest. Raises the same errors as :meth:`BackupArchive.opened`, except OSError."""
    remedy = "install that version, or a newer one"
    try:
        kind = msgspec.json.decode(content, type=prepared(_FormatOnly)).format
        if kind.startswith(_FORMAT_PREFIX) and kind != FORMAT:
            raise BackupError(
                f"{path} was made by a newer version of Kaiten (its format is {visible(kind)}): {remedy}"
            )
        manifest = msgspec.json.decode(content, type=prepared(BackupManifest))
    except ValueError as error:
        raise BackupError(f"{path} is not a backup ({error}): use another file") from error
    if manifest.format != FORMAT or not all(map(_PART_NAME.fullmatch, manifest.parts)):
        raise BackupError(f"{path} is not a backup: use another file")
    if any(f"{TABLES}/{name}" not in manifest.parts for name in manifest.tables):
        raise BackupError(f"{path} is damaged (a table is missing): use another copy")
    for name in manifest.names(BLOBS):
        if manifest.parts[f"{BLOBS}/{name}"].sha256 != name:
            raise BackupError(f"{path} is damaged (a blob's name is not its digest): use another copy")
    if manifest.revision < FIRST_REVISION:
        raise BackupError(
            f"{path} has tables at revision {visible(manifest.revision)}, {NO_UPGRADE}: start an "
            "arena without it. To keep its games, restore it with the version that made it"
        )
    if not is_known(manifest.revision):
        raise BackupError(
            f"{path} was made by Kaiten {visible(manifest.version)}, which is newer (its tables are at "
            f"revision {visible(manifest.revision)}): {remedy}"
        )
    return manifest


class _FormatOnly(msgspec.Struct):
    format: str
