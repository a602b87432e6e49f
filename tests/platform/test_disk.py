"""A disk that fills up, and has room again."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from arena.platform.files import Disk
from arena.play.launcher.launcher import Launcher
from arena.play.launcher.slots import SlotPool
from arena.protocol.match import Limits
from arena.sandbox.process.runtime import ProcessRuntime
from arena.scheduler.workers import WithRoom, local_workers

_MIB = 1024 * 1024


@pytest.fixture
def small(tmp_path: Path, root: None) -> Iterator[Path]:
    """Give the folder of a disk of 16 MiB."""
    del root
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "kaiten-test", str(folder)], check=True)  # noqa: S603, S607
    yield folder
    subprocess.run(["umount", str(folder)], check=True)  # noqa: S603, S607


def test_a_tenth_of_a_small_disk_stays_free(small: Path) -> None:
    """Or what was set. A file counts before it is there, and a folder before it is made."""
    usual, set_ = Disk(small / "data" / "uploads"), Disk(small, 4 * _MIB)
    assert usual.has_room(14 * _MIB)
    assert not usual.has_room(15 * _MIB)
    assert set_.has_room(11 * _MIB)
    assert not set_.has_room(13 * _MIB)


def test_no_match_begins_while_the_disk_is_full(small: Path, tmp_path: Path) -> None:
    """It is logged once, and goes on by itself; who plays already is not asked."""
    launcher = Launcher(ProcessRuntime(), "test", tmp_path)
    with (
        local_workers(launcher, SlotPool.for_host(2, 4096, Limits()), "here") as local,
        capture_logs() as logs,
    ):
        workers = WithRoom(local, Disk(small))
        place = workers.take(2)
        assert place is not None
        filler = small / "filler"
        filler.write_bytes(bytes(15 * _MIB))
        assert [workers.take(2) for _ in range(3)] == [None] * 3
        assert workers.status()[0].busy == 2
        filler.unlink()
        place.give_back()
        again = workers.take(2)
        assert again is not None
        again.give_back()
    assert [(line["log_level"], line["event"]) for line in logs] == [
        ("error", "disk full"),
        ("info", "disk space recovered"),
    ]
