"""The members of a tar, read strictly.

Formats: POSIX ustar and pax, and GNU's (GNU tar manual, "Basic Tar Format"; POSIX.1-2017, pax, "ustar
Interchange Format"). The standard library's tarfile is unsuitable: it reads whole extended headers into
memory, repairs damaged ones, and reads sparse files.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from arena.images.archive.sources import ReadAhead
from arena.images.image import IntakeLimits, Rejected

BLOCK: Final = 512
MAX_MTIME: Final = 8**11 - 1
"""The latest modification time that fits into a header, in the year 2242."""

_ZEROS: Final = bytes(BLOCK)
_MAX_SIZE: Final = 1 << 62
_MAX_EXTENSIONS: Final = 8
_PAX_NUMBER: Final = re.compile(rb"\d{1,18}")
_PAX_TIME: Final = re.compile(rb"(-?\d{1,18})(?:\.\d*)?")
_OCTAL: Final = re.compile(rb" *([0-7]*)[ \0]*")


class Kind(Enum):
    """The type of a member."""

    FILE = auto()
    FOLDER = auto()
    SYMLINK = auto()
    HARD_LINK = auto()
    DEVICE = auto()
    FIFO = auto()


_KINDS: Final = {
    b"0": Kind.FILE,
    b"\0": Kind.FILE,
    b"7": Kind.FILE,
    b"1": Kind.HARD_LINK,
    b"2": Kind.SYMLINK,
    b"3": Kind.DEVICE,
    b"4": Kind.DEVICE,
    b"5": Kind.FOLDER,
    b"6": Kind.FIFO,
}
_EXTENSIONS: Final = frozenset({b"x", b"g", b"L", b"K"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TarMember:
    """One member, from its headers."""

    name: bytes  # raw bytes, like `target`; both may be hostile
    kind: Kind
    size: int  # size of its content in bytes; 0 unless it is a file
    mode: int  # permissions, twelve bits
    mtime: int  # seconds since 1970, 0 to `MAX_MTIME`
    target: bytes  # target of a link


class TarReader:
    """The members of an uncompressed tar.

    Iterate once, and read a member's content before asking for the next member. ``what`` names the tar in
    errors.
    """

    def __init__(self, source: ReadAhead, what: str, limits: IntakeLimits) -> None:
        self._source = source
        self._what = what
        self._limits = limits
        self._content = 0
        self._padding = 0

    def __iter__(self) -> Iterator[TarMember]:
        """Yield the members. Raises Rejected if the source is not a tar, or is damaged."""
        while (header := self._next_header()) is not None:
            extended: dict[bytes, bytes] = {}
            for _ in range(_MAX_EXTENSIONS):
                if header[156:157] not in _EXTENSIONS:
                    break
                self._extend(extended, header)
                header = self._next_header()
                if header is None:
                    raise self._damage_error("it ends after an extended header, without the member")
            member = self._member(header, extended)
            self._expect(member.size)
            yield member
            for _ in self.content():
                pass
            self._close()

    def content(self) -> Iterator[bytes]:
        """Yield the rest of the current member's content, in pieces."""
        while self._content:
            piece = next(self._source.pieces(self._content), b"")
            if not piece:
                raise self._damage_error("it ends in the middle of a file")
            self._content -= len(piece)
            yield piece

    @property
    def position(self) -> int:
        """Offset of the current member's content in the source; valid until the content is read."""
        return self._source.position

    def _next_header(self) -> bytes | None:
        block = self._source.take(BLOCK)
        if not block:
            return None
        if block == _ZEROS:
            second = self._source.take(BLOCK)
            if second not in {b"", _ZEROS}:
                raise self._damage_error("it has an empty header")
            return None
        if len(block) < BLOCK:
            raise self._damage_error("it ends in the middle of a header")
        stated = self._number(block[148:156], "checksum")
        # The checksum counts its own eight bytes as spaces.
        if stated != sum(block) - sum(block[148:156]) + 8 * 32:
            raise self._damage_error("a header's checksum is wrong")
        return block

    def _member(self, header: bytes, extended: dict[bytes, bytes]) -> TarMember:
        flag = header[156:157]
        kind = _KINDS.get(flag)
        if kind is None:
            what = "a sparse file" if flag == b"S" else f"a member of type {flag!r}"
            raise Rejected(f"{self._what} contains {what}, but only files, folders and links are allowed")
        name = extended.get(b"path", _header_name(header))
        if kind is Kind.FILE and name.endswith(b"/"):
            kind = Kind.FOLDER
        size = self._size(header, extended)
        if size and kind is not Kind.FILE:
            raise self._damage_error("a member that is not a file has a size")
        return TarMember(
            name=name,
            kind=kind,
            size=size,
            mode=self._number(header[100:108], "mode") & 0o7777,
            mtime=self._mtime(header, extended),
            target=extended.get(b"linkpath", _until_nul(header[157:257])),
        )

    def _extend(self, extended: dict[bytes, bytes], header: bytes) -> None:
        """Merge an extended header into ``extended``, which applies to the next member."""
        size = self._size(header, {})
        if size > self._limits.header_bytes:
            raise Rejected(
                f"{self._what}: an extended header is {size} bytes long (limit {self._limits.header_bytes}): "
                "save the image again, with fewer extended attributes"
            )
        self._expect(size)
        data = b"".join(self.content())
        self._close()
        flag = header[156:157]
        if flag in {b"L", b"K"}:
            extended[b"path" if flag == b"L" else b"linkpath"] = data.removesuffix(b"\0")
            return
        for key, value in self._records(data):
            if key.startswith(b"GNU.sparse"):
                raise Rejected(
                    f"{self._what} contains a sparse file, but only files, folders and links are allowed"
                )
            if key in {b"path", b"linkpath", b"size", b"mtime"}:
                if flag == b"g":
                    raise Rejected(
                        f"{self._what}: a global header sets {key.decode()}, which only a member's own "
                        "header may set: save the image again"
                    )
                extended[key] = value

    def _records(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the records of a pax header, each ``length key=value`` and a newline."""
        start = 0
        while start < len(data):
            space = data.find(b" ", start, start + 20)
            digits = data[start:space] if space > 0 else b""
            end = start + int(digits) if _PAX_NUMBER.fullmatch(digits) else 0
            if not space < end <= len(data) or data[end - 1 : end] != b"\n":
                raise self._damage_error("an extended header is not a list of records")
            key, equals, value = data[space + 1 : end - 1].partition(b"=")
            if not equals:
                raise self._damage_error("an extended header has a record without a value")
            yield key, value
            start = end

    def _size(self, header: bytes, extended: dict[bytes, bytes]) -> int:
        stated = extended.get(b"size")
        if stated is None:
            size = self._number(header[124:136], "size")
        elif _PAX_NUMBER.fullmatch(stated):
            size = int(stated)
        else:
            raise self._damage_error("a size is not a number")
        if not 0 <= size <= _MAX_SIZE:
            raise self._damage_error("a size is negative or too large")
        return size

    def _mtime(self, header: bytes, extended: dict[bytes, bytes]) -> int:
        stated = extended.get(b"mtime")
        if stated is None:
            time = self._number(header[136:148], "time")
        elif match := _PAX_TIME.fullmatch(stated):
            time = int(match[1])
        else:
            raise self._damage_error("a time is not a number")
        return min(max(time, 0), MAX_MTIME)

    def _number(self, field: bytes, what: str) -> int:
        """Parse a header's number: octal, or GNU's base 256, which may be negative."""
        if field[0] & 0x80:
            number = int.from_bytes(field, "big")
            bits = 8 * len(field)
            return number - (1 << bits) if field[0] & 0x40 else number - (1 << (bits - 1))
        match = _OCTAL.fullmatch(field)
        if match is None:
            raise self._damage_error(f"a {what} is not a number")
        return int(match[1] or b"0", 8)

    def _expect(self, size: int) -> None:
        self._content, self._padding = size, -size % BLOCK

    def _close(self) -> None:
        if len(self._source.take(self._padding)) < self._padding:
            raise self._damage_error("it ends in the middle of a file")

    def _damage_error(self, how: str) -> Rejected:
        return Rejected(
            f"{self._what} is not a tar, or is damaged ({how}): save the image and submit the archive again"
        )


def _header_name(header: bytes) -> bytes:
    name = _until_nul(header[:100])
    # Only POSIX headers have a prefix. GNU headers, which have a different magic, have other fields here.
    prefix = _until_nul(header[345:500]) if header[257:263] == b"ustar\0" else b""
    return prefix + b"/" + name if prefix else name


def _until_nul(field: bytes) -> bytes:
    return field.partition(b"\0")[0]
