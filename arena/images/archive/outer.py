"""Provides an archive's members by name. Decompresses only the archive itself."""

import os
import re
from typing import Final, TypeVar

import msgspec

from arena.images.archive.sources import GZIP, ByteBudget, Gunzip, Metered, ReadAhead, Source, Window
from arena.images.archive.tar import Kind, TarMember, TarReader
from arena.images.image import IntakeLimits, Rejected

MAX_PART_BYTES: Final = 255
"""Maximum length of a file name, as on most Linux file systems."""

Parts = tuple[str, ...]
"""The names in a path, from the root down; empty for the root itself."""


def split(name: bytes, what: str, limits: IntakeLimits) -> Parts:
    """Return a path's parts, without doubled slashes or single dots.

    ``what`` names the tar in errors. Raises Rejected if the path is absolute, contains ``..`` or a NUL
    byte, is too long or too deep, has a component that is too long, or is not valid UTF-8.
    """
    text = decode(name, what, limits)
    if text.startswith("/"):
        raise Rejected(f"{what}: the path {shown(text)} is absolute. Use a relative path")
    parts = tuple(part for part in text.split("/") if part not in {"", "."})
    if ".." in parts:
        raise Rejected(f"{what}: the path {shown(text)} contains '..'. Use a path without it")
    if len(parts) > limits.depth:
        raise Rejected(
            f"{what}: the path {shown(text)} is {len(parts)} folders deep (limit {limits.depth}). Shorten it"
        )
    if any(len(part.encode()) > MAX_PART_BYTES for part in parts):
        raise Rejected(
            f"{what}: the path {shown(text)} has a component longer than {MAX_PART_BYTES} bytes. Shorten it"
        )
    return parts


def decode(name: bytes, what: str, limits: IntakeLimits) -> str:
    """Return a path or a link's target as text.

    Raises Rejected if it is too long, is not valid UTF-8, or contains a NUL byte.
    """
    if len(name) > limits.name_bytes:
        raise Rejected(f"{what}: a path is {len(name)} bytes long (limit {limits.name_bytes}). Shorten it")
    if b"\0" in name:
        raise Rejected(f"{what}: the path {name[:80]!r} contains a NUL byte: rename the file")
    try:
        return name.decode()
    except UnicodeDecodeError:
        raise Rejected(f"{what}: the path {name[:80]!r} is not UTF-8: rename the file") from None


def shown(name: str) -> str:
    """Return a path for an error message: short, and in ASCII."""
    return ascii(name if len(name) <= 80 else f"{name[:60]}…{name[-19:]}")  # noqa: PLR2004 - 60 + 1 + 19


_ARCHIVE: Final = "the archive"
_REMEDY: Final = "send what `docker save IMAGE` writes, plain or compressed with gzip"
_OTHER_COMPRESSIONS: Final = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ": "xz",
    b"BZh": "bzip2",
    b"PK\x03\x04": "zip",
}
_LAYER_LINK: Final = re.compile(r"\.\./([0-9a-f]{64}(?:/layer)?\.tar)")
"""Targets of the links by which older engines and podman refer to a layer that is already in the archive."""

_Document = TypeVar("_Document")


class Archive:
    """An archive's members.

    ``descriptor`` and ``size`` (bytes) describe its uncompressed tar. Raises Rejected if it is not a tar,
    or has members that an image archive never has.
    """

    def __init__(self, descriptor: int, size: int, limits: IntakeLimits) -> None:
        self._descriptor = descriptor
        self._limits = limits
        self._files: dict[str, tuple[int, int]] = {}
        links: dict[str, str] = {}
        count = ByteBudget(
            limits.archive_members, f"the archive has more than {limits.archive_members} members; {_REMEDY}"
        )
        reader = TarReader(ReadAhead(Window(descriptor, 0, size)), _ARCHIVE, limits)
        for member in reader:
            count.spend(1)
            name = "/".join(split(member.name, _ARCHIVE, limits))
            if name in self._files or name in links:
                raise Rejected(
                    f"the archive contains {shown(name)} twice: save the image and submit the archive again"
                )
            if member.kind is Kind.FILE:
                self._files[name] = reader.position, member.size
            elif member.kind is Kind.SYMLINK:
                links[name] = _layer_link(name, member)
            elif member.kind is not Kind.FOLDER:
                raise Rejected(
                    f"the archive contains {shown(name)}, which is neither a file nor a folder; {_REMEDY}"
                )
        for name, target in links.items():
            if target not in self._files:
                raise Rejected(f"the archive's link {shown(name)} does not point to a layer; {_REMEDY}")
        self._files |= {name: self._files[target] for name, target in links.items()}

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def size(self, name: str) -> int:
        """Return a file's size. Raises Rejected if it is missing."""
        return self._place(name)[1]

    def open(self, name: str) -> Window:
        """Return a file's content. Raises Rejected if it is missing."""
        return Window(self._descriptor, *self._place(name))

    def first_bytes(self, name: str, size: int) -> bytes:
        """Return a file's first bytes, at most ``size``."""
        return ReadAhead(self.open(name)).take(size)

    def document(self, name: str) -> bytes:
        """Return the content of a JSON document. Raises Rejected if it is missing or too large."""
        size = self.size(name)
        if size > self._limits.json_bytes:
            raise Rejected(
                f"{shown(name)} is {size} bytes long (limit {self._limits.json_bytes}): save a smaller image"
            )
        return ReadAhead(self.open(name)).take(size)

    def _place(self, name: str) -> tuple[int, int]:
        place = self._files.get(name)
        if place is None:
            raise Rejected(
                f"the archive lacks {shown(name)}: save the image again, on the machine that built it"
            )
        return place


def open_archive(descriptor: int, scratch: int, limits: IntakeLimits) -> Archive:
    """Return an archive's members.

    ``scratch`` is the descriptor of an empty file, which receives the tar if the archive is compressed.
    Raises Rejected if the archive is empty or its compression is unsupported, and for the same reasons as
    :class:`Archive`.
    """
    size = os.fstat(descriptor).st_size
    begin = os.pread(descriptor, 8, 0)
    if not begin:
        raise Rejected(f"the archive is empty: {_REMEDY}")
    for magic, name in _OTHER_COMPRESSIONS.items():
        if begin.startswith(magic):
            raise Rejected(f"the archive is compressed with {name}: {_REMEDY}")
    if not begin.startswith(GZIP):
        return Archive(descriptor, size, limits)
    unpacked = ByteBudget(
        limits.archive_bytes,
        f"the archive is larger than {limits.archive_bytes} bytes after decompression: "
        "make the image smaller",
    )
    return Archive(
        scratch,
        _copy(Metered(Gunzip(Window(descriptor, 0, size), _ARCHIVE, limits), unpacked), scratch),
        limits,
    )


def parse(document: bytes, kind: type[_Document], name: str) -> _Document:
    """Return a JSON document's content. Raises Rejected if it is not JSON or doesn't match ``kind``."""
    try:
        return msgspec.json.decode(document, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Rejected(f"{shown(name)} has unexpected content ({error}): save the image again") from error
    except RecursionError as error:
        raise Rejected(f"{shown(name)} is nested too deeply: save the image again") from error


def _layer_link(name: str, member: TarMember) -> str:
    """Return the target of a link between layers. Raises Rejected for any other link."""
    match = _LAYER_LINK.fullmatch(member.target.decode(errors="replace"))
    folder, _, base = name.rpartition("/")
    if match is None or base != "layer.tar" or not folder or "/" in folder:
        raise Rejected(
            f"the archive contains the link {shown(name)}, which does not connect two layers; {_REMEDY}"
        )
    return match[1]


def _copy(source: Source, descriptor: int) -> int:
    """Copy a source into a file; return the number of bytes."""
    size = 0
    with open(descriptor, "wb", closefd=False) as sink:
        while chunk := source.read(1 << 30):
            sink.write(chunk)
            size += len(chunk)
    return size
