"""Writes a tar of which every byte is the arena's choice or a file's content."""

import hashlib
import tarfile
from collections.abc import Iterable
from typing import BinaryIO

from arena.intake.archive.names import Parts
from arena.intake.archive.sources import Allowance
from arena.intake.archive.tar import BLOCK, Kind, Member
from arena.intake.image import Layer


class TarWriter:
    """One tar in the making.

    Owner and group are root, whoever they were: bots run as a user that owns nothing. Bits that give a
    program its owner's rights are gone, and so are extended attributes, with file capabilities among them.
    Times of modification stay: Python compares those of a module and its compiled form.

    Args:
        sink: For its bytes.
        allowance: What may be written.
    """

    def __init__(self, sink: BinaryIO, allowance: Allowance) -> None:
        self._sink = sink
        self._allowance = allowance
        self._digest = hashlib.sha256()
        self._size = 0

    def add(
        self, parts: Parts, kind: bytes, member: Member, *, target: str = "", content: Iterable[bytes] = ()
    ) -> None:
        """Write a member.

        Args:
            parts: Its path.
            kind: As tarfile has it.
            member: Its mode, time and size.
            target: Of a link.
            content: As many bytes as its size says, in pieces.

        Raises:
            Rejected: It is more than may be written; said before any of its content is asked for.
        """
        info = tarfile.TarInfo("/".join(parts))
        info.type = kind
        info.mode = member.mode & (0o1777 if member.kind is Kind.FOLDER else 0o777)
        info.mtime = member.mtime
        info.size = member.size
        info.linkname = target
        self._allowance.spend(member.size)
        self._header(info)
        for piece in content:
            self._write(piece)
        self._fill(-member.size % BLOCK)

    def add_mark(self, parts: Parts) -> None:
        """Write an empty file that marks what lower layers have as removed."""
        info = tarfile.TarInfo("/".join(parts))
        info.mode = 0
        self._header(info)

    def finish(self) -> Layer:
        """Write the end; return what the tar is known by."""
        self._fill(2 * BLOCK)
        return Layer(f"sha256:{self._digest.hexdigest()}", self._size)

    def _header(self, info: tarfile.TarInfo) -> None:
        header = info.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict")
        self._allowance.spend(len(header))
        self._write(header)

    def _fill(self, size: int) -> None:
        self._allowance.spend(size)
        self._write(bytes(size))

    def _write(self, data: bytes) -> None:
        self._sink.write(data)
        self._digest.update(data)
        self._size += len(data)
