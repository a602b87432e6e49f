"""A command killed in the middle leaves nothing that looks whole, and the next one needs no help."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest

from arena.app.folders import CannotStart, data_dir_lock, open_results
from arena.ops.backup.archive import BackupArchive
from arena.rules import Rules
from tests.builders import add_bots, play_set
from tests.cli.command import environment
from tests.cli.forked import started
from tests.ops.backup.places import Spot, Spots, everything, settle
from tests.patience import WAIT_SECONDS
from tests.postgresql import Cluster

_MIB = 1024 * 1024


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Spot:
    """Give an arena with so much in it that it takes a moment to write; the tests only read it."""
    spot = Spots(tmp_path_factory.mktemp("live"), None).make("live")
    settle(spot, size=16 * _MIB)
    with spot.store() as store:
        versions = add_bots(store, [("a", "ann"), ("b", "ben")])
        for number in range(60):
            play_set(store, [versions], Rules(players=2), name=f"set{number}")
    return spot


@pytest.fixture(scope="module")
def kept(live: Spot) -> Path:
    """Give a backup of it."""
    folder = live.settings.data_dir.parent
    assert live.arena("backup", "kept.zip", folder=folder).returncode == 0
    return folder / "kept.zip"


WRITING = """
SELECT 1 FROM pg_stat_activity
WHERE query LIKE 'INSERT INTO %' AND query NOT LIKE 'INSERT INTO kaiten_schema%'
"""
"""Finds who writes rows of any table."""


@pytest.fixture
def watching(postgresql_cluster: Cluster) -> Iterator[psycopg.Connection]:
    """Give a connection that is there already when there is something to see."""
    with closing(psycopg.connect(postgresql_cluster.address("postgres"), autocommit=True)) as connection:
        yield connection


@contextmanager
def killed_when(reached: Callable[[], bool], *words: str, folder: Path, of: Spot) -> Iterator[None]:
    """Run a command, and kill it as soon as it has got so far."""
    with started(words, folder, environment() | of.environment) as command:
        deadline = time.monotonic() + WAIT_SECONDS
        while not reached():
            command.check_runs()
            assert time.monotonic() < deadline
            time.sleep(0.001)  # until the next look
        command.kill()
    yield


def test_a_killed_backup_is_none(live: Spot, tmp_path: Path) -> None:
    """The file of that name is the one from before, or none; the next backup is made as always."""
    folder = tmp_path / "kept"
    folder.mkdir()
    old = folder / "kept.zip"
    old.write_bytes(b"from before")

    def begun() -> bool:
        return any(file.stat().st_size > _MIB for file in folder.glob(".kept.zip.*"))

    with killed_when(begun, "backup", "kept.zip", folder=folder, of=live):
        assert old.read_bytes() == b"from before"
    assert live.arena("backup", "kept.zip", folder=folder).returncode == 0
    with BackupArchive.opened(old) as archive:
        archive.verify()


@pytest.mark.postgresql
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_killed_restore_is_no_arena(
    live: Spot, kept: Path, spots: Spots, kind: str, watching: psycopg.Connection
) -> None:
    """Whether it was writing files or rows: nothing starts there until a restore has gone through."""
    there = spots.make("there", postgresql=kind == "postgresql")
    data = there.settings.data_dir

    def files() -> bool:
        return (data / "uploads" / "u1.py").exists()

    def rows() -> bool:
        if kind == "sqlite":
            log = data / "arena.sqlite3.restoring-wal"
            return log.exists() and log.stat().st_size > 0
        return watching.execute(WRITING).fetchone() is not None

    for reached in (files, rows):
        with killed_when(reached, "restore", kept.name, folder=kept.parent, of=there):
            assert (data / "restoring").exists()
            assert not (data / "arena.sqlite3").exists()
            with (
                pytest.raises(CannotStart, match="is incomplete: run `arena restore` again"),
                data_dir_lock(data),
            ):
                pass
            with pytest.raises(CannotStart):
                open_results(there.settings)
    done = there.arena("restore", kept.name, folder=kept.parent)
    assert done.returncode == 0, done.stderr
    assert [file.name for file in (data / "uploads").iterdir()] == ["u1.py"]
    with live.store() as before, there.store() as after:
        assert everything(after) == everything(before)
