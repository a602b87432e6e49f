"""An image's files, with the details needed to resolve links: names, types, sizes and targets.

Layers are combined as engines combine them (OCI image specification 1.1, "Image Layer Filesystem Changeset").
Paths that go through a link or a file are rejected, because engines differ in how they handle them.
"""

from typing import Final

from arena.images.archive.outer import MAX_PART_BYTES, Parts, shown
from arena.images.archive.sources import ByteBudget
from arena.images.archive.tar import Kind
from arena.images.image import MOUNTED, IntakeLimits, Rejected

_MAX_LINKS: Final = 40
"""Maximum number of links to follow for one path, as in Linux."""

_MOUNTED_OVER: Final = {
    **dict.fromkeys((*MOUNTED, "tmp", "run", "run/arena", "run/arena-init"), Kind.FOLDER),
    "run/arena-init/kaiten-init": Kind.FILE,
}
"""Paths that the arena or the runtime mounts over. A link at one of them would move the mount."""

_SHADOWED: Final = (("tmp",), ("run", "arena"), ("run", "arena-init"))
"""Folders that the arena mounts over, or mounts a file into."""

_MOUNTED_FILES: Final = ("etc/hosts", "etc/hostname", "etc/resolv.conf")
"""Files that the engine mounts over. It follows links, and creates what is missing."""

_ACCOUNTS: Final = ("etc/passwd", "etc/group")
_MAX_PATH_BYTES: Final = 2048
"""Limit on the length of a resolved path. Linux's limit is 4096, and the engine adds a prefix."""


class Node:
    """A file, folder or symlink. Hard links to a file share its node."""

    __slots__ = ("children", "hard_links", "kind", "layer", "mode", "size", "target")

    def __init__(self, kind: Kind, layer: int, *, mode: int = 0, size: int = 0, target: str = "") -> None:
        self.kind = kind
        self.layer = layer  # the number of the layer that last wrote it
        self.mode = mode  # of a folder
        self.size = size
        self.target = target
        self.hard_links = 0
        self.children: dict[str, Node] = {}


class Tree:
    """The combined files of the layers so far.

    Before a layer changes a path, all :meth:`implied_folders` above the path must have been added.
    """

    def __init__(self, limits: IntakeLimits) -> None:
        self._limits = limits
        self._layer = 0
        self._root = Node(Kind.FOLDER, 0)
        # Removed by this layer: (folder, name), with the name "" for everything in the folder.
        self._removed: set[tuple[Node, str]] = set()
        self._count = ByteBudget(
            limits.members,
            f"the image has more than {limits.members} files, folders and links: "
            "leave out what the bot doesn't need",
        )
        self._text = ByteBudget(
            limits.names_bytes,
            f"the paths in the image's layers take up more than {limits.names_bytes} bytes in total: "
            "leave out files that the bot doesn't need",
        )

    def begin_layer(self) -> None:
        """Begin the next layer."""
        self._layer += 1
        self._removed.clear()

    def implied_folders(self, parts: Parts) -> list[tuple[Parts, int]]:
        """Return the folders above a path that this layer hasn't written, top down, with their modes."""
        node: Node | None = self._root
        implied = []
        for depth, part in enumerate(parts[:-1], start=1):
            node = None if node is None else node.children.get(part)
            if node is None:
                implied.append((parts[:depth], 0o755))
            elif node.kind is Kind.FOLDER and node.layer != self._layer:
                implied.append((parts[:depth], node.mode))
        return implied

    def add(self, parts: Parts, kind: Kind, *, mode: int = 0, size: int = 0, target: str = "") -> None:
        """Add a file, folder or symlink. ``mode`` is used for folders.

        Raises Rejected if the layer already has this path, or a parent of the path is not a folder.
        """
        folder = self._folder_of(parts, target)
        old = folder.children.get(parts[-1])
        if old is not None and kind is old.kind is Kind.FOLDER:
            old.layer, old.mode = self._layer, mode
            return
        self._add_node(folder, parts, Node(kind, self._layer, mode=mode, size=size, target=target))

    def link(self, parts: Parts, target: Parts) -> Node:
        """Add a hard link to an earlier file or symlink in this layer, and return what it links to.

        Raises Rejected if there is no such file or symlink, if it has too many hard links, and for the same
        reasons as :meth:`add`.
        """
        node: Node | None = self._root
        for part in target:
            node = node.children.get(part) if node is not None else None
        if node is None or node.layer != self._layer or node.kind is Kind.FOLDER:
            raise Rejected(
                f"the hard link {shown('/'.join(parts))} leads to {shown('/'.join(target))}, "
                "which is not an earlier file in the same layer: "
                "build the image with docker build, and save it again"
            )
        node.hard_links += 1
        if node.hard_links > self._limits.hard_links:
            # The engine couldn't unpack the layer, and the arena would be blamed.
            raise Rejected(
                f"{shown('/'.join(target))} has more than {self._limits.hard_links} hard links: "
                "leave out files that the bot doesn't need"
            )
        self._add_node(self._folder_of(parts, ""), parts, node)
        return node

    def remove(self, parts: Parts) -> None:
        """Remove what lower layers have at a path.

        Raises Rejected if this layer has already written or removed it.
        """
        folder = self._folder_of(parts, "")
        old = folder.children.get(parts[-1])
        if (folder, parts[-1]) in self._removed or (old is not None and old.layer == self._layer):
            raise _duplicate(parts)
        self._removed.add((folder, parts[-1]))
        folder.children.pop(parts[-1], None)

    def empty(self, parts: Parts) -> None:
        """Remove everything that lower layers have in a folder.

        Raises Rejected if the folder is the root, or this layer has already emptied it.
        """
        if not parts:
            raise Rejected(
                "a layer has an opaque whiteout at the root, which engines ignore: save the image again"
            )
        folder = self._folder_of((*parts, ""), "")
        if (folder, "") in self._removed:
            raise _duplicate(parts)
        self._removed.add((folder, ""))
        folders = [folder]
        while folders:
            each = folders.pop()
            each.children = {name: node for name, node in each.children.items() if node.layer == self._layer}
            folders += [node for node in each.children.values() if node.kind is Kind.FOLDER]

    def resolve(self, path: str) -> tuple[Parts, Node | None]:
        """Follow a path from the root as Linux would inside the image.

        Return the resolved path and its node, which is None if the path doesn't exist. Resolution stops at
        folders that the runtime mounts over. Raises Rejected if the path goes through too many links.
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
                raise Rejected(f"the path {shown(path)} goes through more than {_MAX_LINKS} links: use fewer")
            if node.target.startswith("/"):
                trail.clear()
            left.extend(node.target.split("/")[::-1])
        return tuple(name for name, _ in trail), trail[-1][1] if trail else self._root

    def check_layer(self) -> None:
        """Check the paths that engines read or mount over, in the image up to this layer.

        Raises Rejected if they would harm the engine or move a mount.
        """
        for path in _ACCOUNTS:
            self._check_accounts(path)
        for path in _MOUNTED_FILES:
            self._check_mounted_file(path)
        for path, kind in _MOUNTED_OVER.items():
            node: Node | None = self._root
            for part in path.split("/"):
                node = node.children.get(part) if node is not None else None
            if node is not None and node.kind is not kind:
                name = "folder" if kind is Kind.FOLDER else "file"
                raise Rejected(
                    f"the image's /{path} is not a {name}, but the arena mounts a {name} there: "
                    "make it one, or leave it out"
                )

    def _check_mounted_file(self, path: str) -> None:
        """Check that the engine can mount a file over this path, which may be a link to a missing file."""
        where, node = self.resolve(path)
        shadowed = any(where[: len(place)] == place for place in _SHADOWED)
        if shadowed or (where[:1] and where[0] in MOUNTED):
            raise Rejected(f"the image's /{path} leads to {shown('/' + '/'.join(where))}: make it a file")
        is_folder = node is not None and node.kind is Kind.FOLDER
        if is_folder or _is_too_long(where) or not self._can_contain(where):
            raise Rejected(f"the image's /{path} is not a file: make it one, or leave it out")

    def _can_contain(self, where: Parts) -> bool:
        """Return False if a resolved path leads through something that is not a folder."""
        node: Node | None = self._root
        for part in where:
            if node is None:  # the engine creates the rest
                return True
            if node.kind is not Kind.FOLDER:
                return False
            node = node.children.get(part)
        return True

    def _check_accounts(self, path: str) -> None:
        """Check a file that the engine reads before starting a container, which a bad file would prevent."""
        where, node = self.resolve(path)
        if where[:1] and where[0] in MOUNTED:
            raise Rejected(f"the image's /{path} is a link to {shown('/' + '/'.join(where))}: make it a file")
        is_link = where != tuple(path.split("/"))
        # A dangling link may lead to a folder once the engine has created its own folders.
        if (node is None and is_link) or (node is not None and node.kind is not Kind.FILE):
            raise Rejected(f"the image's /{path} is not a file: make it one, or leave it out")
        if node is not None and node.size > self._limits.accounts_bytes:
            raise Rejected(
                f"the image's /{path} is {node.size} bytes long (limit {self._limits.accounts_bytes}): "
                "leave out entries that the bot doesn't need"
            )

    def check_working_dir(self, path: str) -> None:
        """Check the folder in which the command starts.

        Raises Rejected if it is not a folder, leads to a mount, or is too long.
        """
        where, node = self.resolve(path)
        if where and where[0] in MOUNTED:
            raise Rejected(
                f"the image's WORKDIR {shown(path)} leads to {shown('/' + '/'.join(where))}: "
                "choose a different WORKDIR"
            )
        if node is not None and node.kind is not Kind.FOLDER:
            raise Rejected(f"the image's WORKDIR {shown(path)} is not a folder: choose a different WORKDIR")
        # The engine creates a missing folder in the image, and again inside a mount that covers it.
        through_links = where != tuple(path.split("/")[1:])
        for place in _SHADOWED:
            if where[: len(place)] == place and (through_links or where != ("tmp",)):
                raise Rejected(
                    f"the image's WORKDIR {shown(path)} leads into /{'/'.join(place)}, which is reserved for "
                    "the arena's mounts: choose a different WORKDIR"
                )
        if any("/".join(where[: account.count("/") + 1]) == account for account in _ACCOUNTS):
            raise Rejected(
                f"the image's WORKDIR {shown(path)} leads to a system file: choose a different WORKDIR"
            )
        if _is_too_long(where):
            raise Rejected(f"the image's WORKDIR {shown(path)} is too long: choose a shorter one")

    def _folder_of(self, parts: Parts, target: str) -> Node:
        """Return the parent folder of a path."""
        self._count.spend(1)
        self._text.spend(sum(map(len, parts)) + len(parts) + len(target))
        node = self._root
        for part in parts[:-1]:
            node = node.children[part]
            if node.kind is not Kind.FOLDER:
                raise Rejected(
                    f"the path {shown('/'.join(parts))} goes through {shown(part)}, "
                    "which is a link or a file: build the image with docker build, and save it again"
                )
        return node

    def _add_node(self, folder: Node, parts: Parts, node: Node) -> None:
        old = folder.children.get(parts[-1])
        if (folder, parts[-1]) in self._removed or (old is not None and old.layer == self._layer):
            raise _duplicate(parts)
        folder.children[parts[-1]] = node


def _duplicate(parts: Parts) -> Rejected:
    return Rejected(
        f"a layer contains {shown('/'.join(parts))} twice: build the image with docker build, "
        "and save it again"
    )


def _is_too_long(where: Parts) -> bool:
    sizes = [len(part.encode()) for part in where]
    return max(sizes, default=0) > MAX_PART_BYTES or sum(sizes) + len(sizes) > _MAX_PATH_BYTES
