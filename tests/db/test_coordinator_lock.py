"""Tests of the coordinator lock.

The lock ends when it is released, or when its holder exits or loses the connection.
"""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from arena.db.database import Database
from arena.db.errors import DatabaseUnavailable
from arena.db.store import Store, open_store
from tests.kinds import on_both, on_postgresql, on_sqlite
from tests.locks import refuse_locks
from tests.patience import wait_until

TAKES = """
import signal, sys
from arena.db.store import open_store
store = open_store(sys.argv[1])
print(store.coordinator_lock.take(), flush=True)
signal.pause()
"""


@pytest.fixture
def stores(url: str) -> Iterator[tuple[Store, Store]]:
    """Yield two stores on one database."""
    with closing(open_store(url)) as first, closing(open_store(url)) as second:
        yield first, second


def end_sessions(url: str) -> None:
    """Terminate all other sessions of a database, as a server restart does."""
    with closing(Database(url)) as database, database.read() as connection:
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )


@on_both
def test_one_coordinator_has_the_lock(stores: tuple[Store, Store]) -> None:
    """Another store can take the lock only after it is released."""
    first, second = stores
    assert first.coordinator_lock.take()
    assert not second.coordinator_lock.take()
    assert first.coordinator_lock.take()
    assert not second.coordinator_lock.take()
    first.coordinator_lock.release()
    first.coordinator_lock.release()
    assert second.coordinator_lock.take()
    assert not first.coordinator_lock.take()
    second.coordinator_lock.release()


@on_both
def test_the_lock_ends_with_a_killed_holder(url: str) -> None:
    """When the holder is killed, the operating system or PostgreSQL releases the lock."""
    with (
        closing(open_store(url)) as store,
        subprocess.Popen(  # noqa: S603 - the test's own program
            [sys.executable, "-c", TAKES, url], stdout=subprocess.PIPE, text=True
        ) as other,
    ):
        assert other.stdout is not None
        try:
            assert other.stdout.readline() == "True\n"
            assert not store.coordinator_lock.take()
        finally:
            other.kill()
        assert other.wait() == -signal.SIGKILL
        wait_until(store.coordinator_lock.take, "the end of the killed process's session")
        store.coordinator_lock.release()


@on_postgresql
def test_the_lock_survives_a_lost_connection(stores: tuple[Store, Store], url: str) -> None:
    """After a reconnection the lock can be taken again, unless another coordinator has taken it."""
    first, second = stores
    assert first.coordinator_lock.take()
    end_sessions(url)
    assert first.coordinator_lock.take()
    assert not second.coordinator_lock.take()
    end_sessions(url)
    assert second.coordinator_lock.take()
    assert not first.coordinator_lock.take()
    end_sessions(url)
    first.coordinator_lock.release()
    second.coordinator_lock.release()
    assert first.coordinator_lock.take()
    first.coordinator_lock.release()


@on_sqlite
def test_a_lock_that_can_not_be_created_is_reported(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system without locks, or a folder with the lock file's name, is reported."""
    why = r"can't lock the file .*arena\.sqlite3\.lock \({}\): check that"
    with monkeypatch.context() as changed:
        refuse_locks(changed)
        with pytest.raises(DatabaseUnavailable, match=why.format("No locks available")):
            store.coordinator_lock.take()
    (tmp_path / "arena.sqlite3.lock").unlink()
    (tmp_path / "arena.sqlite3.lock").mkdir()
    with pytest.raises(DatabaseUnavailable, match=why.format("Is a directory")):
        store.coordinator_lock.take()
