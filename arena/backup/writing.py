"""Writes the file of a backup: a ZIP archive, whose parts are hashed on their way."""

import hashlib
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from types import TracebackType
from typing import BinaryIO, Final, Self

import msgspec

from arena.backup.manifest import MANIFEST, Manifest, Part

_LEVEL: Final = 1
"""Of compression. What higher ones save is little, and they take several times as long."""


class ArchiveWriter:
    """A backup that is being written. It is whole when :meth:`end` has been called.

    Args:
        file: Where it goes; it needs not be seekable.

    Attributes:
        parts: What has been written, by name.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)
        self.parts: dict[str, Part] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._zip.close()
        else:
            # Without the manifest it is none, and what went wrong is on its way already.
            with suppress(OSError, ValueError):
                self._zip.close()

    def add(self, name: str, pieces: Iterable[bytes]) -> None:
        """Write a part. Where the pieces end with an error, it is none.

        Raises:
            OSError: It can't be written.
        """
        digest, size = hashlib.sha256(), 0
        with self._zip.open(name, "w", force_zip64=True) as part:
            for piece in pieces:
                part.write(piece)
                digest.update(piece)
                size += len(piece)
        self.parts[name] = Part(size=size, sha256=digest.hexdigest())

    def end(self, manifest: Manifest) -> None:
        """Write the manifest, which makes it whole.

        Raises:
            OSError: It can't be written.
        """
        with self._zip.open(MANIFEST, "w") as file:
            file.write(msgspec.json.format(msgspec.json.encode(manifest), indent=1))
