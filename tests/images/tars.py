"""Tar archives built byte by byte, so that tests can damage any part of them."""

import gzip
from collections.abc import Mapping

BLOCK = 512
END = bytes(2 * BLOCK)


def header(  # noqa: PLR0913 - a header's fields
    name: bytes,
    *,
    kind: bytes = b"0",
    size: int = 0,
    mode: int = 0o644,
    target: bytes = b"",
    magic: bytes = b"ustar\x0000",
    raw: Mapping[int, bytes] | None = None,
) -> bytes:
    """Return a header with a correct checksum.

    ``raw`` has bytes by offset, which are written before the checksum is computed.
    """
    block = bytearray(BLOCK)
    fields = {
        0: name[:100],
        100: b"%07o" % mode,
        108: b"%07o" % 1000,
        116: b"%07o" % 1000,
        124: b"%011o" % size,
    }
    fields |= {136: b"%011o" % 1_700_000_000, 156: kind, 157: target[:100], 257: magic, **(raw or {})}
    for place, value in fields.items():
        block[place : place + len(value)] = value
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def padded(content: bytes) -> bytes:
    """Return content padded with zeros to whole blocks."""
    return content + bytes(-len(content) % BLOCK)


def file(name: bytes, content: bytes = b"", *, mode: int = 0o644) -> bytes:
    """Return a file's header and content."""
    return header(name, size=len(content), mode=mode) + padded(content)


def folder(name: bytes, *, mode: int = 0o755) -> bytes:
    """Return a folder's header."""
    return header(name + b"/", kind=b"5", mode=mode)


def symlink(name: bytes, target: bytes) -> bytes:
    """Return a symbolic link's header."""
    return header(name, kind=b"2", target=target)


def hard_link(name: bytes, target: bytes) -> bytes:
    """Return a hard link's header."""
    return header(name, kind=b"1", target=target)


def pax(*records: tuple[bytes, bytes], kind: bytes = b"x") -> bytes:
    """Return an extended header with these records."""
    content = b"".join(_record(key, value) for key, value in records)
    return header(b"PaxHeader", kind=kind, size=len(content)) + padded(content)


def long_name(name: bytes, *, kind: bytes = b"L") -> bytes:
    """Return GNU's header for a long name (``L``) or a long link target (``K``)."""
    content = name + b"\0"
    return header(b"././@LongLink", kind=kind, size=len(content), magic=b"ustar  \0") + padded(content)


def tar(*members: bytes) -> bytes:
    """Return a tar of these members."""
    return b"".join(members) + END


def zipped(content: bytes) -> bytes:
    """Return content compressed with gzip, with the same bytes each time."""
    return gzip.compress(content, 6, mtime=0)


def _record(key: bytes, value: bytes) -> bytes:
    length = len(key) + len(value) + 3
    while (line := b"%d %s=%s\n" % (length, key, value)) and len(line) != length:
        length = len(line)
    return line
