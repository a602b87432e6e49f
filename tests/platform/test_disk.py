"""Test of a disk that is filling up."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.platform.files import Disk
from tests.folders import small_disk

_MIB = 1024 * 1024


@pytest.fixture
def small(tmp_path: Path, root: None) -> Iterator[Path]:
    """Yield a folder on a disk of 16 MiB with 100 inodes."""
    del root
    with small_disk(tmp_path, size=16 * _MIB, inodes=100) as folder:
        yield folder


def test_a_tenth_of_a_small_disk_stays_free(small: Path) -> None:
    """Unless another floor is set, a tenth stays free. A new file's size is counted in advance."""
    usual, set_ = Disk(small / "data" / "uploads"), Disk(small, 4 * _MIB)
    assert usual.has_room(14 * _MIB)
    assert not usual.has_room(15 * _MIB)
    assert set_.has_room(11 * _MIB)
    assert not set_.has_room(13 * _MIB)


def test_a_tenth_of_the_inodes_stays_free(small: Path) -> None:
    """A disk that has run out of inodes counts as full, even if it has free space."""
    disk = Disk(small, 0)
    for number in range(85):
        (small / str(number)).touch()
    assert disk.has_room()
    for number in range(85, 95):
        (small / str(number)).touch()
    assert not disk.has_room()
