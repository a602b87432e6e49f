"""Loads bots' images into the engine, reads them into the page cache, and finds their disk."""

import itertools
import math
import os
import re
import stat
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, NoReturn

import docker
import msgspec
from docker.errors import APIError, ImageNotFound

from arena.sandbox.docker.engine import engine_errors
from arena.sandbox.runtime import ImageSource, KeptImage, LaunchRefused, RuntimeFailure

_IMAGE_ID: Final = re.compile(r"sha256:[0-9a-f]{64}")
_RUN_FIELDS: Final = ("Entrypoint", "Cmd", "Env", "WorkingDir")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineImage:
    """An image that can be started with the launch template."""

    id: str  # the engine's id for the image
    command: tuple[str, ...]  # its entry point and arguments; at least one word
    # The folders on the engine's host that all of the image's containers share; None if unknown.
    layers: tuple[Path, ...] | None = field(default=None, compare=False)


def is_image_id(source: str) -> bool:
    """Return True if a source is an image id."""
    return _IMAGE_ID.fullmatch(source) is not None


class DockerImages:
    """The images of one engine. Thread-safe.

    Submitted images are loaded when they are first needed. The arena finds them by name, because an image's
    id depends on the engine: it is the digest of the image's configuration, or of a manifest that the engine
    writes. However, any user of the engine can give that name to another image, so the arena checks the
    image's content: its command, environment and working directory, and the digests of its layers, which the
    engine computed when it unpacked them. It then starts the image by the engine's id for it, which always
    refers to the same image.

    ``source`` contains the submitted images, if there are any.
    """

    def __init__(self, client: docker.APIClient, source: ImageSource | None = None) -> None:
        self._client = client
        self._source = source
        self._locks: dict[str, threading.Lock] = {}

    def find(self, source: str) -> EngineImage:
        """Return the image with this id, loading it if necessary.

        Raises LaunchRefused if the image has no start command, or declares volumes. Raises RuntimeFailure if
        it doesn't exist or can't be loaded, or if ``source`` is not an id: a name can be reassigned to
        another image.
        """
        if not is_image_id(source):
            raise RuntimeFailure(f"{source!r} is not an image id; use sha256: and 64 hexadecimal digits")
        kept = None if self._source is None else self._source.find(source)
        if self._source is None or kept is None:
            with engine_errors(f"inspect image {source}"):
                image: Mapping[str, Any] = self._client.inspect_image(source)  # type: ignore[no-untyped-call] # untyped in docker-py's stubs
            return _check_runnable(image)
        # Seats with the same bot start concurrently, but only one of them loads the image.
        with self._locks.setdefault(source, threading.Lock()):
            return _check_runnable(self._load_and_check(self._name(self._source, source), kept))

    def prune(self) -> int:
        """Remove loaded images that the source no longer has, and return their number.

        Images that a container uses are kept. Raises RuntimeFailure if any other image may be left.
        """
        if self._source is None:
            return 0
        with engine_errors(f"list the images of {self._source.repository}"):
            # docker-py's stubs don't declare that images can be listed by name.
            found: Any = self._client.images(name=self._source.repository)
        ours = {name for image in found for name in image["RepoTags"] or ()}
        # Read last, because an image may be stored and loaded while the engine lists its own.
        names = {self._name(self._source, id_) for id_ in self._source.ids()}
        return sum(map(self._remove, sorted(ours - names)))

    def _remove(self, name: str) -> bool:
        """Remove an image, or only this name if it has other names; return True if that succeeded.

        Return False if a container uses the image, or the name no longer exists.
        """
        with engine_errors(f"remove image {name}"):
            try:
                self._client.remove_image(name)
            except ImageNotFound:
                return False
            except APIError as error:
                if error.response is not None and error.response.status_code == HTTPStatus.CONFLICT:
                    return False
                raise
            return True

    def _load_and_check(self, name: str, kept: KeptImage) -> Mapping[str, Any]:
        image = self._inspect(name)
        if image is None or not _has_stored_content(image, kept):
            output = self._load(name, kept)
            image = self._inspect(name)
            if image is None or not _has_stored_content(image, kept):
                raise RuntimeFailure(
                    f"{name} was loaded, but is missing or differs from the stored image; "
                    f"the engine reported: {output or 'nothing'}"
                )
        return image

    def _load(self, name: str, kept: KeptImage) -> str:
        with engine_errors(f"load image {name}"):
            lines = list(self._client.load_image(kept.archive(name)))  # type: ignore[no-untyped-call] # as above
        output = [line.get("error") or line.get("message") or line.get("stream") or "" for line in lines]
        return " ".join("".join(output).split())

    def _inspect(self, name: str) -> Mapping[str, Any] | None:
        with engine_errors(f"inspect image {name}"):
            try:
                image: Mapping[str, Any] = self._client.inspect_image(name)  # type: ignore[no-untyped-call] # as above
            except ImageNotFound:
                return None
            return image

    @staticmethod
    def _name(source: ImageSource, id_: str) -> str:
        return f"{source.repository}:{id_.removeprefix('sha256:')}"


def _has_stored_content(image: Mapping[str, Any], kept: KeptImage) -> bool:
    """Return whether the engine's image has the stored content."""
    config = msgspec.json.decode(kept.config)
    return image["RootFS"].get("Layers") == config["rootfs"]["diff_ids"] and all(
        (image["Config"].get(field) or None) == (config["config"].get(field) or None) for field in _RUN_FIELDS
    )


def _check_runnable(image: Mapping[str, Any]) -> EngineImage:
    config = image["Config"]
    command = (*(config.get("Entrypoint") or ()), *(config.get("Cmd") or ()))
    if not command:
        raise LaunchRefused("the image has no start command: give its Dockerfile an ENTRYPOINT")
    if config.get("Volumes"):
        raise LaunchRefused(
            "the image declares a VOLUME, but bots can write only to /tmp: remove it from the "
            "Dockerfile, or use another parent image"
        )
    return EngineImage(id=image["Id"], command=command, layers=_layers(image))


def _layers(image: Mapping[str, Any]) -> tuple[Path, ...] | None:
    driver = image.get("GraphDriver") or {}
    if driver.get("Name") == _BTRFS:
        return ()  # each container has its own snapshot, and snapshots don't share inodes
    data = driver.get("Data") or {}  # as overlay2 reports it
    folders = [data[name].split(":") for name in ("LowerDir", "UpperDir") if data.get(name)]
    return tuple(map(Path, itertools.chain(*folders))) or None


_BTRFS: Final = "btrfs"
"""The name of the storage driver, and of the file system that it needs."""

_SYS: Final = Path("/sys")
_MOUNTS: Final = Path("/proc/self/mountinfo")
_LOCAL: Final = "http+docker://localhost"
"""docker-py's base URL for an engine that listens on a unix socket."""

_LAYERS: Final = "overlay2"
"""The folder in the data root that contains the layers. An arena in a container may see only this part of the
data root."""

_FROM_THE_ENGINE: Final = "/etc/hostname"
"""In a container, this file comes from the engine's data root."""


def disk_of_engine(base_url: str, info: dict[str, Any]) -> str:
    """Return the block device of the engine's data root, such as ``/dev/sda``; empty if unknown.

    The device is unknown if the engine isn't on a unix socket or runs on another kernel, or if there is no
    single device, as with ZFS, tmpfs and btrfs on several disks. ``info`` is the result of
    ``APIClient.info``.
    """
    if base_url != _LOCAL or info["KernelVersion"] != os.uname().release:
        return ""
    root = Path(info["DockerRootDir"])
    for path in (root / _LAYERS, root, Path(_FROM_THE_ENGINE)):
        try:
            device = path.stat().st_dev
        except OSError:
            continue  # the arena is in a container and can't see this path
        return disk_of_device(os.major(device), os.minor(device)) or disk_of_btrfs(path)
    return ""


def disk_of_device(major: int, minor: int, sys: Path = _SYS) -> str:
    """Return the path of the disk that contains a device; empty if unknown."""
    return _whole_disk(sys / "dev" / "block" / f"{major}:{minor}")


def disk_of_btrfs(path: Path, mounts: Path = _MOUNTS, sys: Path = _SYS) -> str:
    """Return the path of the disk that holds ``path`` on a btrfs file system; empty if unknown.

    Files on btrfs have a device number that belongs to no device, so this reads the mount table. It returns
    an empty string if the file system has several disks, because the engine's limits are per disk, or if the
    disk's link under ``/dev/mapper`` is missing, as in some containers.
    """
    try:
        source = _source_of_btrfs(path.resolve(), mounts)
        if source is None:
            return ""
        name = source.resolve().name  # names under /dev/mapper are links
        members = next((found.parent for found in sys.glob(f"fs/btrfs/*/devices/{name}")), None)
        if members is None or len(list(members.iterdir())) != 1:
            return ""
    except OSError:
        return ""
    return _whole_disk(sys / "class" / "block" / name)


def _source_of_btrfs(path: Path, mounts: Path) -> Path | None:
    """Return the device of the file system that contains a path; None if it is not btrfs.

    Raises OSError if the mount table can't be read.
    """
    found: dict[Path, tuple[str, str]] = {}
    for line in filter(None, os.fsdecode(mounts.read_bytes()).split("\n")):
        where, mount = (part.split(" ") for part in line.split(" - ", 1))
        # A later mount hides an earlier one. Spaces are written as octal escapes: see proc_pid_mountinfo(5).
        found[Path(_OCTAL.sub(lambda code: chr(int(code[1], 8)), where[4]))] = (mount[0], mount[1])
    kind, source = next((found[folder] for folder in (path, *path.parents) if folder in found), ("", ""))
    return Path(source) if kind == _BTRFS else None


_OCTAL: Final = re.compile(r"\\([0-7]{3})")


def _whole_disk(device: Path) -> str:
    """Return the path of the disk that contains a device, given as a folder in /sys; empty if unknown."""
    folder = device.resolve()
    if (folder / "partition").exists():
        folder = folder.parent  # limits apply to whole disks only
    try:
        lines = (folder / "uevent").read_text().splitlines()
    except OSError:
        return ""
    named = dict(line.split("=", 1) for line in lines if "=" in line)
    return f"/dev/{named['DEVNAME']}" if "DEVNAME" in named else ""


_FRESH_SECONDS: Final = 60.0
"""Seconds for which a layer is assumed to stay in memory."""

_MAX_FILES: Final = 50_000
_MAX_BYTES: Final = 1024**3
"""Limits per layer. Larger layers are skipped: reading them for every match would cost too much."""

_PORTION: Final = 1024**2
_MEMINFO: Final = Path("/proc/meminfo")


class PageCacheWarmer:
    """Reads layers into the page cache. Thread-safe; no layer is read by two threads at the same time.

    ``clock`` is monotonic; ``available`` returns how much memory the host can spare, in bytes.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, available: Callable[[], int] | None = None
    ) -> None:
        self._clock = clock
        self._available = available or _available
        self._locks: dict[Path, threading.Lock] = {}
        self._tried: dict[Path, tuple[float, str]] = {}

    def warm(self, folders: Sequence[Path] | None) -> str:
        """Read the layers that an image's containers share.

        Return why they are not all in memory, or "" if they are. ``folders`` is None if the layers are
        unknown. A layer is skipped if it takes more than half of the memory that the host can spare.
        """
        if folders is None:
            return (
                "the location of the image's layers is unknown: "
                "the engine's storage driver is neither overlay2 nor btrfs"
            )
        return next(filter(None, [self._warm(folder) for folder in folders]), "")

    def _warm(self, folder: Path) -> str:
        with self._locks.setdefault(folder, threading.Lock()):
            last, cold = self._tried.get(folder, (-math.inf, ""))
            if self._clock() - last >= _FRESH_SECONDS:
                try:
                    _read(_files(folder, self._available() // 2))
                    cold = ""
                except _TooLarge as error:
                    cold = str(error)
                except OSError as error:
                    cold = f"{error.filename} can't be read: {error.strerror}"
                self._tried[folder] = (self._clock(), cold)
            return cold


class _TooLarge(Exception):
    """A layer is too large to be kept in memory. The message names the limit."""


def _files(folder: Path, spare: int) -> list[str]:
    """Return the paths of a layer's files.

    Raises _TooLarge if they exceed ``spare`` bytes or a limit per layer, or OSError if one is unreadable.
    """
    found, size = list[str](), 0
    for where, _, names in os.walk(folder, onerror=_fail):
        for name in names:
            path = f"{where}/{name}"
            about = os.lstat(path)
            if stat.S_ISREG(about.st_mode):
                found.append(path)
                size += about.st_size
            if len(found) > _MAX_FILES or size > _MAX_BYTES:
                raise _TooLarge(f"{folder} has more than {_MAX_FILES} files or {_MAX_BYTES >> 20} MiB")
    if size > spare:
        raise _TooLarge(
            f"{folder} takes {size >> 20} MiB, but the host can spare only {spare >> 20} MiB for it"
        )
    return found


def _fail(error: OSError) -> NoReturn:
    raise error


def _read(files: Sequence[str]) -> None:
    """Read files into the page cache. Raises OSError."""
    buffer = bytearray(_PORTION)
    for file in files:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            while os.readv(descriptor, [buffer]):
                pass
        finally:
            os.close(descriptor)


def _available() -> int:
    """Return MemAvailable in bytes, or 0 if unknown."""
    try:
        lines = _MEMINFO.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), 0)
