"""Reads the file of a backup, and finds out whether it is what was written."""

import hashlib
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, Self

import msgspec

from arena.backup.errors import BackupDamaged, BackupNewer
from arena.backup.manifest import BLOBS, FORMAT, IMAGES, MANIFEST, TABLES, UPLOADS, Manifest
from arena.speech import visible
from arena.store.migrate import is_known

CHUNK: Final = 1024 * 1024
_KIND: Final = "kaiten-backup/"
_MOST_MANIFEST: Final = 256 * 1024 * 1024

_UNREADABLE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    KeyError,
    EOFError,
    RuntimeError,  # one bit says that a part is encrypted, others by what method it is packed
    ValueError,
)
"""What Python's module says of an archive that was changed."""

_NAMES: Final = re.compile(
    rf"{TABLES}/[a-z_]+"
    rf"|{UPLOADS}/[0-9A-Za-z_-]+\.[a-z]+"
    rf"|{IMAGES}/(?:blobs/sha256|images|used|bases)/[0-9a-f]{{64}}"
)
"""What a part may be called: none gets out of its folder."""


class Archive:
    """A backup that is read. From :meth:`opened`.

    Attributes:
        manifest: What it says of itself.
    """

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        self._path = path
        self._zip = file
        with self._damage():
            entry = self._zip.getinfo(MANIFEST)
            if entry.file_size > _MOST_MANIFEST:
                raise BackupDamaged(f"{self._path} is no backup: its manifest has {entry.file_size} bytes")
            self.manifest = _read(self._zip.read(entry), path)

    @classmethod
    @contextmanager
    def opened(cls, path: Path) -> Iterator[Self]:
        """Open a backup and read its manifest; the rest of it is not looked at yet.

        Raises:
            BackupDamaged: It is no backup, or not all of one.
            BackupNewer: A newer version of this program made it.
            OSError: The file can't be read.
        """
        try:
            file = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise BackupDamaged(
                f"{path} is no backup, or not all of one ({error}): take another copy of it"
            ) from error
        with file:
            yield cls(path, file)

    def verify(self) -> None:
        """Read all of it, and compare it with the manifest.

        Raises:
            BackupDamaged: Something is missing, or not as it was written.
        """
        for name in self.manifest.parts:
            for _ in self.pieces(name):
                pass

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield a part in pieces.

        Raises:
            BackupDamaged: It is missing or damaged; perhaps only after most of it.
        """
        part = self.manifest.parts[name]
        digest, size = hashlib.sha256(), 0
        with self._damage(), self._zip.open(name) as file:
            while piece := self._piece(file):
                digest.update(piece)
                size += len(piece)
                if size > part.size:
                    break
                yield piece
        if (size, digest.hexdigest()) != (part.size, part.sha256):
            raise BackupDamaged(f"{self._path} is damaged ({name}): take another copy of it")

    def _piece(self, file: IO[bytes]) -> bytes:
        with self._damage():
            return file.read(CHUNK)

    @contextmanager
    def _damage(self) -> Iterator[None]:
        try:
            yield
        except _UNREADABLE as error:
            raise BackupDamaged(f"{self._path} is damaged ({error}): take another copy of it") from error


def _read(content: bytes, path: Path) -> Manifest:
    """Return the manifest.

    Raises:
        BackupDamaged: It is none.
        BackupNewer: It is that of a newer version.
    """
    remedy = "install that version, or a newer one"
    try:
        kind = msgspec.json.decode(content, type=_Kind).format
        if kind.startswith(_KIND) and kind != FORMAT:
            raise BackupNewer(f"{path} was made by a newer Kaiten (its format is {visible(kind)}): {remedy}")
        manifest = msgspec.json.decode(content, type=Manifest)
    except ValueError as error:
        raise BackupDamaged(f"{path} is no backup ({error})") from error
    if manifest.format != FORMAT or not all(map(_NAMES.fullmatch, manifest.parts)):
        raise BackupDamaged(f"{path} is no backup")
    if any(f"{TABLES}/{name}" not in manifest.parts for name in manifest.tables):
        raise BackupDamaged(f"{path} is damaged (a table is missing): take another copy of it")
    for name in manifest.names(BLOBS):
        if manifest.parts[f"{BLOBS}/{name}"].sha256 != name:
            raise BackupDamaged(f"{path} is damaged (a blob has another's name): take another copy of it")
    if not is_known(manifest.revision):
        raise BackupNewer(
            f"{path} was made by Kaiten {visible(manifest.version)}, which is newer (its tables are at "
            f"{visible(manifest.revision)}): {remedy}"
        )
    return manifest


class _Kind(msgspec.Struct):
    format: str
