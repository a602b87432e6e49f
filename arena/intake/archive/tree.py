"""The files of an image, as far as its links have to be understood: names, kinds, sizes, targets.

The layers are laid over each other as engines do it (OCI image specification 1.1, "Image Layer Filesystem
Changeset"), but what engines do differently is refused: a path that goes through a link or a file.
"""

from typing import Final

from arena.intake.archive.names import MAX_PART_BYTES, Parts, shown
from arena.intake.archive.sources import Allowance
from arena.intake.archive.tar import Kind
from arena.intake.command import MOUNTED
from arena.intake.errors import Rejected
from arena.intake.limits import IntakeLimits

_MAX_LINKS: Final = 40
"""Followed for one path, as in Linux."""

_MUST_BE_FOLDERS: Final = (*MOUNTED, "tmp", "run", "run/arena", "run/arena-init")
"""Mounted over, by the arena or the runtime: a link here would move the mount."""

_SHADOWED: Final = (("tmp",), ("run", "arena"), ("run", "arena-init"))
"""Of these an image's own content is not seen while it runs: the arena mounts over them."""

_MUST_BE_FILES: Final = ("etc/hosts", "etc/hostname", "etc/resolv.conf")
"""The engine mounts a file over each."""

_ACCOUNTS: Final = ("etc/passwd", "etc/group")
_MAX_PATH_BYTES: Final = 2048
"""Of a path that links have been followed for. Linux takes 4096, and the engine puts its own before it."""


class Node:
    """A file, folder or symlink; hard links share one.

    Attributes:
        kind: FILE, FOLDER or SYMLINK.
        layer: The number of the layer that wrote it last.
        stated: Whether that layer has it as a member, or only something below it.
        size: Of a file, in bytes.
        target: Of a symlink.
        children: Of a folder, by name.
    """

    __slots__ = ("children", "kind", "layer", "size", "stated", "target")

    def __init__(
        self, kind: Kind, layer: int, *, size: int = 0, target: str = "", stated: bool = True
    ) -> None:
        self.kind = kind
        self.layer = layer
        self.stated = stated
        self.size = size
        self.target = target
        self.children: dict[str, Node] = {}


class Tree:
    """What the layers so far make together.

    Args:
        limits: On the number of files, and the length of their names.
    """

    def __init__(self, limits: IntakeLimits) -> None:
        self._limits = limits
        self._layer = 0
        self._root = Node(Kind.FOLDER, 0)
        self._removed: set[tuple[Node, str]] = set()  # by this layer: folder and name; no name for all in it
        self._count = Allowance(
            limits.members,
            f"the image has more than {limits.members} files, folders and links: "
            "leave out what the bot doesn't need",
        )
        self._text = Allowance(
            limits.names_bytes,
            f"the paths in the image's layers have more than {limits.names_bytes} bytes together",
        )

    def begin_layer(self) -> None:
        """Begin the next layer."""
        self._layer += 1
        self._removed.clear()

    def add(self, parts: Parts, kind: Kind, *, size: int = 0, target: str = "") -> None:
        """Put a file, folder or symlink at a path.

        Raises:
            Rejected: The layer has this path already, or it goes through what is no folder.
        """
        folder = self._folder_of(parts, target)
        old = folder.children.get(parts[-1])
        if old is not None and kind is old.kind is Kind.FOLDER:
            old.layer, old.stated = self._layer, True
            return
        self._put(folder, parts, Node(kind, self._layer, size=size, target=target))

    def link(self, parts: Parts, target: Parts) -> Node:
        """Put at a path what this layer has at another; return it.

        Raises:
            Rejected: There is nothing that could be linked, or as for :meth:`add`.
        """
        node: Node | None = self._root
        for part in target:
            node = node.children.get(part) if node is not None else None
        if node is None or node.layer != self._layer or node.kind is Kind.FOLDER:
            raise Rejected(
                f"the hard link {shown('/'.join(parts))} leads to {shown('/'.join(target))}, "
                "which is no file that comes before it in the same layer"
            )
        self._put(self._folder_of(parts, ""), parts, node)
        return node

    def remove(self, parts: Parts) -> None:
        """Take away what lower layers have at a path.

        Raises:
            Rejected: This layer has written it, or taken it away already.
        """
        folder = self._folder_of(parts, "")
        old = folder.children.get(parts[-1])
        if (folder, parts[-1]) in self._removed or (old is not None and old.layer == self._layer):
            raise _twice(parts)
        self._removed.add((folder, parts[-1]))
        folder.children.pop(parts[-1], None)

    def empty(self, parts: Parts) -> None:
        """Take away all that lower layers have in a folder.

        Raises:
            Rejected: As for :meth:`remove`.
        """
        if not parts:
            raise Rejected("a layer empties the whole image, which engines do not heed: save the image again")
        folder = self._folder_of((*parts, ""), "")
        if (folder, "") in self._removed:
            raise _twice(parts)
        self._removed.add((folder, ""))
        folder.children = {name: node for name, node in folder.children.items() if node.layer == self._layer}

    def resolve(self, path: str) -> tuple[Parts, Node | None]:
        """Follow a path from the root as Linux would inside the image.

        Returns:
            Where it leads, and what is there. It is not followed into what the runtime mounts.

        Raises:
            Rejected: It goes in circles.
        """
        trail: list[tuple[str, Node | None]] = []
        left = path.split("/")[::-1]
        links = 0
        while left:
            part = left.pop()
            if part == "..":
                del trail[-1:]
            if part in {"", ".", ".."}:
                continue
            parent = trail[-1][1] if trail else self._root
            node = parent.children.get(part) if parent is not None else None
            if node is None or node.kind is not Kind.SYMLINK:
                trail.append((part, node))
                if trail[0][0] in MOUNTED:
                    break
                continue
            links += 1
            if links > _MAX_LINKS:
                raise Rejected(f"the path {shown(path)} goes through more than {_MAX_LINKS} links")
            if node.target.startswith("/"):
                trail.clear()
            left.extend(node.target.split("/")[::-1])
        return tuple(name for name, _ in trail), trail[-1][1] if trail else self._root

    def check_layer(self) -> None:
        """Check what engines read or mount over, as it is after this layer.

        Raises:
            Rejected: It would harm the engine or move a mount.
        """
        for path in _ACCOUNTS:
            self._check_accounts(path)
        for path in _MUST_BE_FILES:
            if (file := self.resolve(path)[1]) is not None and file.kind is Kind.FOLDER:
                raise Rejected(f"the image's /{path} is no file: make it one, or leave it out")
        for path in _MUST_BE_FOLDERS:
            node: Node | None = self._root
            for part in path.split("/"):
                node = node.children.get(part) if node is not None else None
            if node is not None and node.kind is not Kind.FOLDER:
                raise Rejected(f"the image's /{path} is no folder: the arena mounts its own there")

    def _check_accounts(self, path: str) -> None:
        """Check a file that the engine reads before it starts anything, and fails to start without."""
        where, node = self.resolve(path)
        if where[:1] and where[0] in MOUNTED:
            raise Rejected(f"the image's /{path} is a link to {shown('/' + '/'.join(where))}: make it a file")
        is_link = where != tuple(path.split("/"))
        # A link that leads nowhere may lead to a folder once the engine has made its own.
        if (node is None and is_link) or (node is not None and node.kind is not Kind.FILE):
            raise Rejected(f"the image's /{path} is no file: make it one, or leave it out")
        if node is not None and node.size > self._limits.accounts_bytes:
            raise Rejected(
                f"the image's /{path} has {node.size} bytes; at most {self._limits.accounts_bytes} are taken"
            )

    def check_working_dir(self, path: str) -> None:
        """Check where a command is to be started.

        Raises:
            Rejected: It is no folder, or leads through links to what the runtime mounts.
        """
        where, node = self.resolve(path)
        if where and where[0] in MOUNTED:
            raise Rejected(
                f"the image's WORKDIR {shown(path)} leads to {shown('/' + '/'.join(where))}: choose another"
            )
        if node is not None and node.kind is not Kind.FOLDER:
            raise Rejected(f"the image's WORKDIR {shown(path)} is no folder")
        # The engine makes a folder that is missing, in the image and again where it mounts over it.
        through_links = where != tuple(path.split("/")[1:])
        for place in _SHADOWED:
            if where[: len(place)] == place and (through_links or where != ("tmp",)):
                raise Rejected(
                    f"the image's WORKDIR {shown(path)} leads to what the arena mounts: choose another"
                )
        if any("/".join(where[: account.count("/") + 1]) == account for account in _ACCOUNTS):
            raise Rejected(f"the image's WORKDIR {shown(path)} is a file of the system: choose another")
        sizes = [len(part.encode()) for part in where]
        if max(sizes, default=0) > MAX_PART_BYTES or sum(sizes) + len(sizes) > _MAX_PATH_BYTES:
            raise Rejected(f"the image's WORKDIR {shown(path)} is too long a path: choose a shorter one")

    def _folder_of(self, parts: Parts, target: str) -> Node:
        """Return the folder that a path is in; make it where it is only implied."""
        self._count.spend(1)
        self._text.spend(sum(map(len, parts)) + len(parts) + len(target))
        node = self._root
        for part in parts[:-1]:
            child = node.children.get(part)
            if (node, part) in self._removed:
                raise _twice(parts)
            if child is None:
                self._count.spend(1)
                child = node.children[part] = Node(Kind.FOLDER, self._layer, stated=False)
            elif child.kind is not Kind.FOLDER:
                raise Rejected(
                    f"the path {shown('/'.join(parts))} goes through {shown(part)}, "
                    "which is a link or a file: build the image with docker build, and save it again"
                )
            child.layer = self._layer
            node = child
        return node

    def _put(self, folder: Node, parts: Parts, node: Node) -> None:
        old = folder.children.get(parts[-1])
        if (folder, parts[-1]) in self._removed or (old is not None and old.layer == self._layer):
            raise _twice(parts)
        folder.children[parts[-1]] = node


def _twice(parts: Parts) -> Rejected:
    return Rejected(
        f"a layer has {shown('/'.join(parts))} twice: build the image with docker build, and save it again"
    )
