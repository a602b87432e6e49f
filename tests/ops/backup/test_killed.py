"""Tests of killed commands: they leave nothing that looks complete, and the next one works without help."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from arena.app.folders import CannotStart, data_dir_lock, open_results
from arena.ops.backup.archive import BackupArchive
from arena.rules import Rules
from tests.builders import add_bots, play_matches
from tests.cli.command import environment
from tests.cli.forked import started
from tests.ops.backup.places import Spot, Spots, everything, settle
from tests.patience import WAIT_SECONDS

_MIB = 1024 * 1024


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Spot:
    """Return an arena with enough data for a backup to take a moment. Tests only read it."""
    spot = Spots(tmp_path_factory.mktemp("live"), None).make("live")
    settle(spot, size=16 * _MIB)
    with spot.store() as store:
        versions = add_bots(store, [("a", "ann"), ("b", "ben")])
        for number in range(60):
            play_matches(store, [versions], Rules(players=2), name=f"set{number}")
    return spot


@pytest.fixture(scope="module")
def kept(live: Spot) -> Path:
    """Return a backup of the arena."""
    folder = live.settings.data_dir.parent
    assert live.arena("backup", "kept.zip", folder=folder).returncode == 0
    return folder / "kept.zip"


_HOLD = """
CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$;
CREATE FUNCTION hold_games() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
  IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity = 'public.game') THEN
    CREATE TRIGGER hold BEFORE INSERT ON game EXECUTE FUNCTION hold();
  END IF;
END $$;
CREATE EVENT TRIGGER hold_games ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION hold_games();
SELECT pg_advisory_lock(1)
"""
"""Makes a restore wait after it has created the table of games, before it adds the first row."""

_HELD = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
_RELEASE = "SELECT pg_advisory_unlock(1); DROP EVENT TRIGGER hold_games; DROP FUNCTION hold_games, hold"


def is_killed_when(reached: Callable[[], bool], *words: str, folder: Path, of: Spot) -> bool:
    """Run a command, and kill it once the condition is true. Return False if it succeeded before."""
    with started(words, folder, environment() | of.environment) as command:
        deadline = time.monotonic() + WAIT_SECONDS
        while not reached() and not command.has_ended:
            assert time.monotonic() < deadline
            time.sleep(0.001)  # until the next check
        return command.is_killed_in_time()


@contextmanager
def endless(file: Path) -> Iterator[Callable[[], None]]:
    """Make a file endless, so that a command that reads the file doesn't finish before it is killed.

    Yields a function that adds some bytes if there is room for them.
    """
    aside = file.rename(file.with_name("aside"))
    os.mkfifo(file)
    pipe = os.open(file, os.O_RDWR | os.O_NONBLOCK)

    def write() -> None:
        with suppress(BlockingIOError):
            os.write(pipe, os.urandom(64 * 1024))

    try:
        yield write
    finally:
        os.close(pipe)
        aside.rename(file)


def test_a_killed_backup_leaves_no_file(live: Spot, tmp_path: Path) -> None:
    """A previous file of the same name is kept. The next backup succeeds."""
    folder = tmp_path / "kept"
    folder.mkdir()
    old = folder / "kept.zip"
    old.write_bytes(b"from before")

    with endless(live.settings.data_dir / "uploads" / "u1.py") as write:

        def begun() -> bool:
            write()
            return any(file.stat().st_size > _MIB for file in folder.glob(".kept.zip.*"))

        assert is_killed_when(begun, "backup", "kept.zip", folder=folder, of=live)
    assert old.read_bytes() == b"from before"
    assert live.arena("backup", "kept.zip", folder=folder).returncode == 0
    with BackupArchive.opened(old) as archive:
        archive.verify()


@pytest.mark.postgresql
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_killed_restore_can_not_be_started(live: Spot, kept: Path, spots: Spots, kind: str) -> None:
    """After a kill while files or rows are being written, no arena starts until a restore has finished."""
    there = spots.make("there", postgresql=kind == "postgresql")
    data = there.settings.data_dir
    database = None
    if there.settings.database_url is not None:
        database = psycopg.connect(there.settings.database_url.replace("+psycopg", ""), autocommit=True)
        database.execute(_HOLD)

    def files() -> bool:
        return (data / "uploads" / "u1.py").exists()

    def rows() -> bool:
        if database is not None:
            return database.execute(_HELD).fetchone() is not None
        log = data / "arena.sqlite3.restoring-wal"
        return log.exists() and log.stat().st_size > 0

    def is_killed(reached: Callable[[], bool]) -> bool:
        killed = is_killed_when(reached, "restore", kept.name, folder=kept.parent, of=there)
        return killed and not (data / "arena.sqlite3").exists()

    for reached in (files, rows):
        while not is_killed(reached):  # on a busy host, the signal may come too late
            assert database is None
            shutil.rmtree(data)
        assert (data / "restoring").exists()
        incomplete = pytest.raises(CannotStart, match="is incomplete: run `arena restore` again")
        with incomplete, data_dir_lock(data):
            pass
        with incomplete:
            open_results(there.settings)
    if database is not None:
        database.execute(_RELEASE)
        database.close()
    done = there.arena("restore", kept.name, folder=kept.parent)
    assert done.returncode == 0, done.stderr
    assert [file.name for file in (data / "uploads").iterdir()] == ["u1.py"]
    with live.store() as before, there.store() as after:
        assert everything(after) == everything(before)
