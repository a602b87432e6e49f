"""What is in an archive: its members by their names. Nothing is unpacked but the archive's own gzip."""

import os
import re
from typing import Final, TypeVar

import msgspec

from arena.intake.archive.names import shown, split
from arena.intake.archive.sources import GZIP, Ahead, Allowance, Gunzip, Metered, Source, Window
from arena.intake.archive.tar import Kind, Member, TarReader
from arena.intake.errors import Rejected
from arena.intake.limits import IntakeLimits

_WHAT: Final = "the archive"
_HOW: Final = "send what `docker save IMAGE` writes, plain or through gzip"
_OTHERS: Final = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ": "xz",
    b"BZh": "bzip2",
    b"PK\x03\x04": "zip",
}
_LAYER_LINK: Final = re.compile(r"\.\./([0-9a-f]{64}(?:/layer)?\.tar)")
"""How older engines and podman put a layer into an archive that is in it already."""

_Document = TypeVar("_Document")


class Archive:
    """An archive's members.

    Args:
        descriptor: Of its tar, uncompressed.
        size: Of that, in bytes.
        limits: On its members.

    Raises:
        Rejected: It is no tar, or has what an image's archive never has.
    """

    def __init__(self, descriptor: int, size: int, limits: IntakeLimits) -> None:
        self._descriptor = descriptor
        self._limits = limits
        self._files: dict[str, tuple[int, int]] = {}
        links: dict[str, str] = {}
        count = Allowance(
            limits.archive_members, f"the archive has more than {limits.archive_members} members; {_HOW}"
        )
        reader = TarReader(Ahead(Window(descriptor, 0, size)), _WHAT, limits)
        for member in reader:
            count.spend(1)
            name = "/".join(split(member.name, _WHAT, limits))
            if name in self._files or name in links:
                raise Rejected(f"the archive has {shown(name)} twice: save and send it again")
            if member.kind is Kind.FILE:
                self._files[name] = reader.position, member.size
            elif member.kind is Kind.SYMLINK:
                links[name] = _layer_link(name, member)
            elif member.kind is not Kind.FOLDER:
                raise Rejected(f"the archive has {shown(name)}, which is no file and no folder; {_HOW}")
        for name, target in links.items():
            if target not in self._files:
                raise Rejected(f"the archive's link {shown(name)} leads to no layer; {_HOW}")
        self._files |= {name: self._files[target] for name, target in links.items()}

    def __contains__(self, name: str) -> bool:
        return name in self._files

    @property
    def is_empty(self) -> bool:
        """Whether there is no file in it."""
        return not self._files

    def size(self, name: str) -> int:
        """Return a file's size.

        Raises:
            Rejected: It is not there.
        """
        return self._place(name)[1]

    def open(self, name: str) -> Window:
        """Return a file's content.

        Raises:
            Rejected: It is not there.
        """
        return Window(self._descriptor, *self._place(name))

    def begins(self, name: str, size: int) -> bytes:
        """Return a file's first bytes, at most ``size``."""
        return Ahead(self.open(name)).take(size)

    def document(self, name: str) -> bytes:
        """Return the content of a JSON document.

        Raises:
            Rejected: It is not there, or too large.
        """
        size = self.size(name)
        if size > self._limits.json_bytes:
            raise Rejected(f"{shown(name)} has {size} bytes; at most {self._limits.json_bytes} are taken")
        return Ahead(self.open(name)).take(size)

    def _place(self, name: str) -> tuple[int, int]:
        place = self._files.get(name)
        if place is None:
            raise Rejected(
                f"the archive lacks {shown(name)}: save the image again, on the machine that built it"
            )
        return place


def open_archive(descriptor: int, scratch: int, limits: IntakeLimits) -> Archive:
    """Return what is in an archive.

    Args:
        descriptor: Of the archive.
        scratch: Of an empty file, which takes the tar if the archive is compressed.
        limits: On all of it.

    Raises:
        Rejected: It is compressed in a way that is not supported, or as for :class:`Archive`.
    """
    size = os.fstat(descriptor).st_size
    begin = os.pread(descriptor, 8, 0)
    if not begin:
        raise Rejected(f"the archive is empty: {_HOW}")
    for magic, name in _OTHERS.items():
        if begin.startswith(magic):
            raise Rejected(f"the archive is compressed by {name}: {_HOW}")
    if not begin.startswith(GZIP):
        return Archive(descriptor, size, limits)
    unpacked = Allowance(
        limits.archive_bytes,
        f"the archive has more than {limits.archive_bytes} bytes when its gzip is undone: "
        "make the image smaller",
    )
    return Archive(
        scratch, _copy(Metered(Gunzip(Window(descriptor, 0, size), _WHAT, limits), unpacked), scratch), limits
    )


def parse(document: bytes, kind: type[_Document], name: str) -> _Document:
    """Return a JSON document's content.

    Raises:
        Rejected: It is something else.
    """
    try:
        return msgspec.json.decode(document, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Rejected(f"{shown(name)} is not what it should be ({error}): save the image again") from error
    except RecursionError as error:
        raise Rejected(f"{shown(name)} is nested too deeply: save the image again") from error


def _layer_link(name: str, member: Member) -> str:
    """Return the member that a link means, if it is a layer that means a layer."""
    match = _LAYER_LINK.fullmatch(member.target.decode(errors="replace"))
    folder, _, base = name.rpartition("/")
    if match is None or base != "layer.tar" or not folder or "/" in folder:
        raise Rejected(
            f"the archive has the link {shown(name)}, which is none between two of its layers; {_HOW}"
        )
    return match[1]


def _copy(source: Source, descriptor: int) -> int:
    """Write a source into a file; return how many bytes there were."""
    size = 0
    with open(descriptor, "wb", closefd=False) as sink:
        while chunk := source.read(1 << 30):
            sink.write(chunk)
            size += len(chunk)
    return size
