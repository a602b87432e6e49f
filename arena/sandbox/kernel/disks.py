"""Finds the disk that holds a path, because limits on reads apply to whole disks."""

import os
import re
from pathlib import Path
from typing import Final

BTRFS: Final = "btrfs"
"""Docker's name for its btrfs storage driver, and the kernel's name for the file system."""

_SYS: Final = Path("/sys")
_MOUNTS: Final = Path("/proc/self/mountinfo")


def disk_of_device(major: int, minor: int, sys: Path = _SYS) -> str:
    """Return the path of the disk that contains a device; empty if unknown."""
    return _whole_disk(sys / "dev" / "block" / f"{major}:{minor}")


def disk_of_btrfs(path: Path, mounts: Path = _MOUNTS, sys: Path = _SYS) -> str:
    """Return the path of the disk that holds ``path`` on a btrfs file system; empty if unknown.

    Files on btrfs have a device number that belongs to no device, so this reads the mount table. It returns
    an empty string if the file system has several disks, because the kernel's limits are per disk, or if the
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
    return Path(source) if kind == BTRFS else None


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
