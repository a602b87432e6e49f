"""Rewrites layers, keeping only what a bot can use and dropping everything that the arena controls."""

import hashlib
import tarfile
from collections.abc import Iterable
from dataclasses import replace
from typing import BinaryIO, Final

from arena.images.archive.outer import Parts, decode, shown, split
from arena.images.archive.sources import ByteBudget, ReadAhead, Source
from arena.images.archive.tar import BLOCK, Kind, TarMember, TarReader
from arena.images.archive.tree import Tree
from arena.images.image import MOUNTED, IntakeLimits, Layer, Rejected


class TarWriter:
    """Writes one tar.

    Owner and group become root, since bots run as a user that owns nothing. Setuid and setgid bits and
    extended attributes, including file capabilities, are dropped. Modification times are kept, because
    Python uses them to check whether compiled modules are up to date.
    """

    def __init__(self, sink: BinaryIO, allowance: ByteBudget) -> None:
        self._sink = sink
        self._allowance = allowance
        self._digest = hashlib.sha256()
        self._size = 0

    def add(
        self, parts: Parts, kind: bytes, member: TarMember, *, target: str = "", content: Iterable[bytes] = ()
    ) -> None:
        """Write a member.

        ``kind`` is one of tarfile's type constants; ``content`` has exactly ``member.size`` bytes. Raises
        Rejected, before reading any of the content, if the member exceeds the allowance.
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
        """Write an empty file that marks a file in lower layers as removed."""
        info = tarfile.TarInfo("/".join(parts))
        info.mode = 0
        self._header(info)

    def finish(self) -> Layer:
        """Write the end of the tar, and return its digest and size."""
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


_WHITEOUT: Final = ".wh."
_OPAQUE: Final = ".wh..wh..opq"
_MOUNT_PARENTS: Final = (("run",), ("run", "arena-init"))
_STORAGE_DRIVER_PREFIX: Final = ".wh..wh."
"""Prefix of an old storage driver's private files."""


def image_allowance(limits: IntakeLimits) -> ByteBudget:
    """Return the byte budget for an image's layers."""
    return ByteBudget(
        limits.image_bytes,
        f"the image's layers take up more than {limits.image_bytes} bytes: "
        "leave out what the bot doesn't need",
    )


class LayerWriter:
    """Writes an image's layers to ``sink``, lowest first, and adds their files to ``tree``."""

    def __init__(self, sink: BinaryIO, tree: Tree, limits: IntakeLimits) -> None:
        self._sink = sink
        self._tree = tree
        self._limits = limits
        self._allowance = image_allowance(limits)

    def write(self, source: Source, what: str) -> Layer:
        """Rewrite a layer.

        ``source`` is its uncompressed tar, and ``what`` is its name in errors. Raises Rejected if
        the layer contains something unacceptable.
        """
        tar = TarWriter(self._sink, self._allowance)
        reader = TarReader(ReadAhead(source), what, self._limits)
        self._tree.begin_layer()
        for member in reader:
            parts = split(member.name, what, self._limits)
            if self._is_wanted(parts, member):
                # Engines differ in the modes that they give such folders, and in when they remove them.
                for folder, mode in self._tree.implied_folders(parts):
                    entry = replace(member, kind=Kind.FOLDER, size=0, mode=mode)
                    self._write_member(tar, reader, entry, folder, what)
                self._write_member(tar, reader, member, parts, what)
        self._tree.check_layer()
        return tar.finish()

    def _is_wanted(self, parts: Parts, member: TarMember) -> bool:
        """Return False for the root, files below a mount, and a storage driver's private files."""
        if not parts and member.kind is not Kind.FOLDER:
            raise Rejected("the root of a layer is not a folder: save the image again")
        below_mount = len(parts) > 1 and parts[0] in MOUNTED
        is_private = any(part.startswith(_STORAGE_DRIVER_PREFIX) and part != _OPAQUE for part in parts)
        return bool(parts) and not below_mount and not is_private

    def _write_member(
        self, tar: TarWriter, reader: TarReader, member: TarMember, parts: Parts, what: str
    ) -> None:
        if any(part.startswith(_WHITEOUT) for part in parts):
            self._write_whiteout(tar, member, parts)
        elif member.kind is Kind.FOLDER:
            self._tree.add(parts, Kind.FOLDER, mode=member.mode)
            # The bot's user must be able to reach what the arena mounts in these folders.
            entered = replace(member, mode=member.mode | 0o111) if parts in _MOUNT_PARENTS else member
            tar.add(parts, tarfile.DIRTYPE, entered)
        elif member.kind is Kind.FILE:
            self._tree.add(parts, Kind.FILE, size=member.size)
            tar.add(parts, tarfile.REGTYPE, member, content=reader.content())
        elif member.kind is Kind.SYMLINK:
            target = decode(member.target, what, self._limits)
            if not target:
                raise Rejected(f"{what}: the link {shown('/'.join(parts))} has no target. Remove it")
            self._tree.add(parts, Kind.SYMLINK, target=target)
            tar.add(parts, tarfile.SYMTYPE, member, target=target)
        elif member.kind is Kind.HARD_LINK:
            self._write_hard_link(tar, member, parts, what)
        else:
            raise Rejected(
                f"{what}: {shown('/'.join(parts))} is a device or a pipe: "
                "only files, folders and links are allowed"
            )

    def _write_hard_link(self, tar: TarWriter, member: TarMember, parts: Parts, what: str) -> None:
        target = split(member.target, what, self._limits)
        node = self._tree.link(parts, target)
        if node.kind is Kind.SYMLINK:
            # A hard link to a symlink becomes another copy of the symlink.
            tar.add(parts, tarfile.SYMTYPE, member, target=node.target)
        else:
            tar.add(parts, tarfile.LNKTYPE, member, target="/".join(target))

    def _write_whiteout(self, tar: TarWriter, member: TarMember, parts: Parts) -> None:
        removed = parts[-1].removeprefix(_WHITEOUT)
        proper = parts[-1].startswith(_WHITEOUT) and removed not in {"", ".", ".."}
        if (
            not proper
            or member.kind not in {Kind.FILE, Kind.HARD_LINK}
            or any(part.startswith(_WHITEOUT) for part in parts[:-1])
        ):
            raise Rejected(
                f"a layer contains {shown('/'.join(parts))}, but names that begin with {_WHITEOUT} are "
                "reserved for marking removed files: rename the file"
            )
        if parts[-1] == _OPAQUE:
            self._tree.empty(parts[:-1])
        else:
            self._tree.remove((*parts[:-1], removed))
        tar.add_mark(parts)
