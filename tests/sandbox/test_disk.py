"""Finding the engine's disk in the kernel's tree of devices."""

import os
import tempfile
from pathlib import Path

import pytest

from arena.sandbox.docker.engine import disk_of_engine
from arena.sandbox.kernel.cgroups import CgroupLocation, disk_rate
from arena.sandbox.kernel.disks import disk_of_btrfs, disk_of_device

INFO = {"KernelVersion": os.uname().release, "DockerRootDir": "/"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Create a tree with a disk, one of its partitions, and a device without a name."""
    disk = tmp_path / "devices" / "pci" / "sda"
    part = disk / "sda2"
    nameless = tmp_path / "devices" / "loop"
    for folder, words in {disk: "DEVNAME=sda\n", part: "DEVNAME=sda2\n", nameless: "MAJOR=7\n"}.items():
        folder.mkdir(parents=True)
        (folder / "uevent").write_text(words)
    (part / "partition").write_text("2")
    numbers = tmp_path / "dev" / "block"
    numbers.mkdir(parents=True)
    for number, folder in {"8:0": disk, "8:2": part, "7:0": nameless}.items():
        (numbers / number).symlink_to(folder)
    return tmp_path


@pytest.mark.parametrize(("minor", "path"), [(0, "/dev/sda"), (2, "/dev/sda")])
def test_a_partition_stands_for_its_disk(tree: Path, minor: int, path: str) -> None:
    """A partition is resolved to its disk, since only whole disks can be limited."""
    assert disk_of_device(8, minor, tree) == path


@pytest.mark.parametrize("number", [(7, 0), (0, 45)])
def test_other_devices_are_unknown(tree: Path, number: tuple[int, int]) -> None:
    """Neither devices without a name nor device numbers that file systems invent are disks."""
    assert disk_of_device(*number, tree) == ""


MOUNTS = """\
20 1 8:1 / / rw - ext4 /dev/sda1 rw
21 20 0:44 /@docker /var/lib/dock\\040er rw,noatime shared:7 - btrfs /dev/sda2 rw,subvol=/@docker
22 20 0:51 / /var/lib/dock\\040er/tmp rw - tmpfs tmpfs rw
23 20 0:60 / /mnt rw - btrfs /dev/nvme0n1p3 rw
24 20 0:61 / /media/a\u2028\udce9\u00a0b rw - vfat /dev/sdc1 rw
"""


@pytest.mark.parametrize(
    ("path", "disks", "found"),
    [
        ("/var/lib/dock er/btrfs", ["sda2"], "/dev/sda"),
        ("/var/lib/dock er", ["sda2"], "/dev/sda"),
        ("/var/lib/dock er", ["sda2", "sdb"], ""),
        ("/var/lib/dock er/tmp/x", ["sda2"], ""),
        ("/var/lib/docker", ["sda2"], ""),
        ("/mnt", ["sda2"], ""),
    ],
)
def test_btrfs_on_one_disk_has_that_disk(tree: Path, path: str, disks: list[str], found: str) -> None:
    """The kernel lists the disks. If there are several, limiting one of them would not be enough."""
    mounts = tree / "mountinfo"
    mounts.write_bytes(os.fsencode(MOUNTS))
    names = tree / "class" / "block"
    names.mkdir(parents=True)
    (names / "sda2").symlink_to(tree / "devices" / "pci" / "sda" / "sda2")
    for disk in disks:
        (tree / "fs" / "btrfs" / "5f2c" / "devices" / disk).mkdir(parents=True)
    (tree / "fs" / "btrfs" / "features").mkdir()
    assert disk_of_btrfs(Path(path), mounts, tree) == found
    mounts.unlink()
    assert disk_of_btrfs(Path(path), mounts, tree) == ""


@pytest.mark.parametrize(
    ("base_url", "info"),
    [
        ("http://192.0.2.1:2375", INFO),
        ("http+docker://ssh", INFO),
        ("http+docker://localhost", INFO | {"KernelVersion": "6.6.12-linuxkit"}),
    ],
)
def test_the_disk_of_another_machine_is_unknown(base_url: str, info: dict[str, str]) -> None:
    """A remote engine couldn't start a container with a limit on a device of this machine."""
    assert disk_of_engine(base_url, info) == ""


def test_layers_alone_are_enough() -> None:
    """The disk is found with only the layers, because an arena in a container sees nothing else."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as root:  # this file system has no disk
        Path(root, "overlay2").symlink_to("/")
        seen = disk_of_engine("http+docker://localhost", INFO | {"DockerRootDir": root})
    assert seen == disk_of_engine("http+docker://localhost", INFO)


def test_the_limit_is_read_with_both_cgroup_versions() -> None:
    """The limit's file and format differ between v1 and v2."""
    place = CgroupLocation(parent="/kaiten/1", driver="cgroupfs", version=1, scope="docker")
    assert place.disk_limits("c" * 64) == f"blkio/kaiten/1/{'c' * 64}/blkio.throttle.read_bps_device"
    place = CgroupLocation(parent="kaiten-1.slice", driver="systemd", version=2, scope="docker")
    assert place.disk_limits("c") == "kaiten.slice/kaiten-1.slice/docker-c.scope/io.max"
    assert disk_rate("8:0 33554432\n8:16 100\n") == 100
    assert disk_rate("8:0 rbps=33554432 wbps=max riops=1000 wiops=max\n") == 33554432
    assert disk_rate("8:0 rbps=max wbps=10 riops=1000 wiops=max\n") is None
    assert disk_rate("") is None
