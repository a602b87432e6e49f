"""Byte sources: file ranges, and wrappers that gunzip, hash or limit others. Each buffers at most a chunk."""

import hashlib
import os
import zlib
from collections.abc import Iterator
from typing import Final, Protocol

from arena.images.image import IntakeLimits, Rejected

CHUNK: Final = 256 * 1024
GZIP: Final = b"\x1f\x8b"
_GZIP_CHUNK: Final = 16 * 1024
"""Smaller than ``CHUNK``, because zlib copies its unused input at the end of each member."""
_UNCHECKED_BYTES: Final = 16 * 1024 * 1024
_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS
_TRUNCATED: Final = "the archive ends early: it was cut off in transit; submit it again"


class Source(Protocol):
    """A sequential source of bytes."""

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes. The result is empty only at the end."""
        ...


class Window:
    """A range of an open file: ``size`` bytes from ``offset``. Reading doesn't change the file's position."""

    def __init__(self, descriptor: int, offset: int, size: int) -> None:
        self._descriptor = descriptor
        self._offset = offset
        self._left = size

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes. Raises Rejected if the file is shorter than the range."""
        size = min(size, self._left, CHUNK)
        if not size:
            return b""
        chunk = os.pread(self._descriptor, size, self._offset)
        if not chunk:
            raise Rejected(_TRUNCATED)
        self._offset += len(chunk)
        self._left -= len(chunk)
        return chunk


class Gunzip:
    """The decompressed content of any number of gzip members. Zeros after a member are ignored.

    ``what`` names the source in errors.
    """

    def __init__(self, source: Source, what: str, limits: IntakeLimits) -> None:
        self._source = source
        self._what = what
        self._limits = limits
        self._consumed = 0
        self._produced = 0
        self._members = 0
        self._engine = zlib.decompressobj(_GZIP_WINDOW)
        self._waiting = b""
        self._in_member = False

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes.

        Raises Rejected if the data is damaged, truncated, or a decompression bomb.
        """
        while True:
            if not self._waiting and not self._refill():
                return b""
            try:
                chunk = self._engine.decompress(self._waiting, min(size, CHUNK))
            except zlib.error as error:
                raise Rejected(
                    f"{self._what}: the gzip stream is damaged ({error}); "
                    "save the image and submit the archive again"
                ) from error
            self._in_member = True
            if self._engine.eof:
                self._members += 1
                self._waiting = self._engine.unused_data.lstrip(b"\0")
                self._engine = zlib.decompressobj(_GZIP_WINDOW)
                self._in_member = False
            else:
                self._waiting = self._engine.unconsumed_tail
            self._produced += len(chunk)
            self._check()
            if chunk:
                return chunk

    def _check(self) -> None:
        if self._produced > max(_UNCHECKED_BYTES, self._limits.expansion * self._consumed):
            raise Rejected(
                f"{self._what}: the gzip stream expands to more than {self._limits.expansion} times "
                "its size; leave out files that consist of one repeated byte"
            )
        if self._members > self._limits.gzip_members:
            raise Rejected(
                f"{self._what}: the gzip stream has more than {self._limits.gzip_members} members; "
                "save the image and submit the archive again"
            )

    def _refill(self) -> bool:
        """Fetch more compressed data. Return False at the end of the source."""
        while chunk := self._source.read(_GZIP_CHUNK):
            self._consumed += len(chunk)
            # Between members, zeros are padding.
            self._waiting = chunk if self._in_member else chunk.lstrip(b"\0")
            if self._waiting:
                return True
        if self._in_member:
            raise Rejected(
                f"{self._what}: the gzip stream ends early; save the image and submit the archive again"
            )
        return False


class Hashed:
    """A source's bytes, hashed as they are read."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._digest = hashlib.sha256()

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes."""
        chunk = self._source.read(size)
        self._digest.update(chunk)
        return chunk

    @property
    def digest(self) -> str:
        """``sha256:…`` of what has been read."""
        return f"sha256:{self._digest.hexdigest()}"


class ByteBudget:
    """A limit that several sources can share. ``refusal`` is the error message if it is exceeded."""

    def __init__(self, size: int, refusal: str) -> None:
        self._left = size
        self._refusal = refusal

    def spend(self, size: int) -> None:
        """Use up ``size`` bytes. Raises Rejected if fewer are left."""
        self._left -= size
        if self._left < 0:
            raise Rejected(self._refusal)


class Metered:
    """A source's bytes, charged to a budget."""

    def __init__(self, source: Source, allowance: ByteBudget) -> None:
        self._source = source
        self._allowance = allowance

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes."""
        chunk = self._source.read(size)
        self._allowance.spend(len(chunk))
        return chunk


class ReadAhead:
    """Reads a source in large chunks and returns small pieces. ``position`` counts the bytes returned."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._chunk = b""
        self._used = 0
        self.position = 0

    def take(self, size: int) -> bytes:
        """Return exactly ``size`` bytes, or fewer at the end."""
        if self._used + size <= len(self._chunk):
            piece = self._chunk[self._used : self._used + size]
            self._used += size
            self.position += size
            return piece
        return b"".join(self.pieces(size))

    def pieces(self, size: int) -> Iterator[bytes]:
        """Yield ``size`` bytes in pieces, or fewer at the end."""
        while size:
            if self._used == len(self._chunk):
                self._chunk, self._used = self._source.read(CHUNK), 0
                if not self._chunk:
                    return
            piece = self._chunk[self._used : self._used + size]
            self._used += len(piece)
            self.position += len(piece)
            size -= len(piece)
            yield piece


def drain(source: Source) -> None:
    """Read a source to its end, so that its hash covers all of it."""
    while source.read(CHUNK):
        pass
