"""Layers read and written: what a bot can use, and nothing that the arena decides."""

import tarfile
from dataclasses import replace
from typing import BinaryIO, Final

from arena.intake.archive.names import Parts, decode, shown, split
from arena.intake.archive.sources import Ahead, Allowance, Source
from arena.intake.archive.tar import Kind, Member, TarReader
from arena.intake.archive.tree import Tree
from arena.intake.archive.writer import TarWriter
from arena.intake.command import MOUNTED
from arena.intake.errors import Rejected
from arena.intake.image import Layer
from arena.intake.limits import IntakeLimits

_WHITEOUT: Final = ".wh."
_OPAQUE: Final = ".wh..wh..opq"
_WAY_IN: Final = ("run",)
_OTHER_MARKS: Final = ".wh..wh."
"""What an old storage driver kept for itself."""


def image_allowance(limits: IntakeLimits) -> Allowance:
    """Return what an image's layers may have in bytes."""
    return Allowance(
        limits.image_bytes,
        f"the image's layers have more than {limits.image_bytes} bytes: leave out what the bot doesn't need",
    )


class LayerWriter:
    """Writes an image's layers, the lowest first.

    Args:
        sink: For their tars, one after another.
        tree: What the layers make together.
        limits: On all of it.
    """

    def __init__(self, sink: BinaryIO, tree: Tree, limits: IntakeLimits) -> None:
        self._sink = sink
        self._tree = tree
        self._limits = limits
        self._allowance = image_allowance(limits)

    def write(self, source: Source, what: str) -> Layer:
        """Write a layer anew.

        Args:
            source: Its tar, uncompressed.
            what: Its name in errors.

        Raises:
            Rejected: It has something that is not taken.
        """
        tar = TarWriter(self._sink, self._allowance)
        reader = TarReader(Ahead(source), what, self._limits)
        self._tree.begin_layer()
        for member in reader:
            parts = split(member.name, what, self._limits)
            if self._is_wanted(parts, member):
                self._write_member(tar, reader, member, parts, what)
        self._tree.check_layer()
        return tar.finish()

    def _is_wanted(self, parts: Parts, member: Member) -> bool:
        """Return whether a member is kept. The root itself, and what is mounted over, are not."""
        if not parts and member.kind is not Kind.FOLDER:
            raise Rejected("a layer has something at its root that is no folder: save the image again")
        below_mount = len(parts) > 1 and parts[0] in MOUNTED
        foreign_mark = any(part.startswith(_OTHER_MARKS) and part != _OPAQUE for part in parts)
        return bool(parts) and not below_mount and not foreign_mark

    def _write_member(
        self, tar: TarWriter, reader: TarReader, member: Member, parts: Parts, what: str
    ) -> None:
        if any(part.startswith(_WHITEOUT) for part in parts):
            self._write_whiteout(tar, member, parts)
        elif member.kind is Kind.FOLDER:
            self._tree.add(parts, Kind.FOLDER)
            # The bot's user has to get through this one to what the arena mounts in it.
            entered = replace(member, mode=member.mode | 0o111) if parts == _WAY_IN else member
            tar.add(parts, tarfile.DIRTYPE, entered)
        elif member.kind is Kind.FILE:
            self._tree.add(parts, Kind.FILE, size=member.size)
            tar.add(parts, tarfile.REGTYPE, member, content=reader.content())
        elif member.kind is Kind.SYMLINK:
            target = decode(member.target, what, self._limits)
            if not target:
                raise Rejected(f"{what}: the link {shown('/'.join(parts))} leads nowhere")
            self._tree.add(parts, Kind.SYMLINK, target=target)
            tar.add(parts, tarfile.SYMTYPE, member, target=target)
        elif member.kind is Kind.HARD_LINK:
            self._write_hard_link(tar, member, parts, what)
        else:
            raise Rejected(
                f"{what}: {shown('/'.join(parts))} is a device or a pipe: "
                "only files, folders and links are taken"
            )

    def _write_hard_link(self, tar: TarWriter, member: Member, parts: Parts, what: str) -> None:
        target = split(member.target, what, self._limits)
        node = self._tree.link(parts, target)
        if node.kind is Kind.SYMLINK:
            # A hard link to a link is the same link once more.
            tar.add(parts, tarfile.SYMTYPE, member, target=node.target)
        else:
            tar.add(parts, tarfile.LNKTYPE, member, target="/".join(target))

    def _write_whiteout(self, tar: TarWriter, member: Member, parts: Parts) -> None:
        removed = parts[-1].removeprefix(_WHITEOUT)
        proper = parts[-1].startswith(_WHITEOUT) and removed not in {"", ".", ".."}
        if (
            not proper
            or member.kind not in {Kind.FILE, Kind.HARD_LINK}
            or any(part.startswith(_WHITEOUT) for part in parts[:-1])
        ):
            raise Rejected(
                f"a layer has {shown('/'.join(parts))}, whose name is kept for marks of removed files"
            )
        if parts[-1] == _OPAQUE:
            self._tree.empty(parts[:-1])
        else:
            self._tree.remove((*parts[:-1], removed))
        tar.add_mark(parts)
