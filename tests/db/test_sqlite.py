"""Tests of SQLite's modes, of waiting writers, and of the change counter."""

import os
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select, text

from arena.db.database import ChangeCounter, Database
from arena.db.schema import BotRow
from arena.db.store import Store, open_store
from tests.db.builders import add_bot
from tests.engines import waiting
from tests.kinds import on_postgresql, on_sqlite


@on_sqlite
def test_reads_continue_during_a_write(store: Store, database: Database) -> None:
    """A reader sees the previous data without waiting, and the new data after the commit."""
    add_bot(store, "a")
    with database.write() as connection:
        connection.execute(text("UPDATE bot SET author = 'zoe'"))
        assert [line.author for line in store.ratings.standings()] == ["ann"]
    assert [line.author for line in store.ratings.standings()] == ["zoe"]


@on_sqlite
def test_a_reader_keeps_its_view(store: Store, database: Database) -> None:
    """A read transaction doesn't see concurrent changes."""
    add_bot(store, "a")
    with database.read() as connection:
        assert connection.execute(select(BotRow.name)).scalars().all() == ["a"]
        add_bot(store, "b")
        assert connection.execute(select(BotRow.name)).scalars().all() == ["a"]
    assert store.activity.totals().bots == 2


@on_sqlite
def test_a_second_writer_waits(store: Store, database: Database) -> None:
    """A second write transaction begins after the first one's commit, and sees its changes."""
    seen: list[int] = []
    second = threading.Thread(target=lambda: seen.append(add_bot(store, "b")))
    with database.write() as connection:
        connection.execute(
            text(
                "INSERT INTO bot (id, name, author, house, newest, playing, state, revision) "
                "VALUES (7, 'a', 'ann', 0, 0, 0, 'active', 0)"
            )
        )
        second.start()
        second.join(timeout=0.3)
        assert second.is_alive()
    second.join()
    assert len(seen) == 1


@on_sqlite
def test_the_file_survives_a_power_cut(database: Database) -> None:
    """Every connection uses the write-ahead log, waits for the disk, and checks foreign keys."""
    with waiting(), database.read() as connection:
        pragmas = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 60_000}


def test_a_copy_of_the_file_is_a_whole_store(sqlite_url: str, tmp_path: Path) -> None:
    """After the store is closed, a single file has all data."""
    store = open_store(sqlite_url)
    add_bot(store, "a")
    store.close()
    copy = tmp_path / "copy.sqlite3"
    copy.write_bytes((tmp_path / "arena.sqlite3").read_bytes())
    again: Store = open_store(f"sqlite:///{copy}")
    assert [line.bot for line in again.ratings.standings()] == ["a"]
    again.close()


@pytest.mark.usefixtures("root")
def test_a_database_created_by_root_belongs_to_the_folders_owner(tmp_path: Path) -> None:
    """The site's user can write to a database that the arena created as root. Other users can't read it."""
    folder = tmp_path / "database"
    folder.mkdir(mode=0o700)
    os.chown(folder, 62000, 62000)
    store = open_store(f"sqlite:///{folder / 'arena.sqlite3'}")
    add_bot(store, "greedy")
    for file in folder.iterdir():
        status = file.stat()
        assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (62000, 62000, 0o600), file
    assert len(list(folder.iterdir())) == 3
    store.close()


@on_sqlite
def test_the_counter_changes_with_every_commit(store: Store, url: str) -> None:
    """The counter changes whenever any store commits a write, and at no other time."""
    with closing(open_store(url)) as other:
        beats = [store.change_counter(), store.change_counter()]
        add_bot(store, "a")
        beats += [store.change_counter(), store.change_counter()]
        add_bot(other, "b")
        store.ratings.standings()
        beats += [store.change_counter(), store.change_counter()]
        assert beats[0] == beats[1] != beats[2] == beats[3] != beats[4] == beats[5]
        assert None not in beats


@on_sqlite
def test_a_rollback_does_not_change_the_counter(store: Store) -> None:
    """A failed write doesn't change the counter. Here, the name is taken by another author's bot."""
    add_bot(store, "a", author="ann")
    before = store.change_counter()
    with pytest.raises(Exception, match="belongs to"):
        add_bot(store, "a", author="ben")
    assert store.change_counter() == before


@on_postgresql
def test_postgresql_has_no_change_counter(store: Store) -> None:
    """On PostgreSQL, a counter would need a query like any other."""
    assert store.change_counter() is None


def test_another_file_has_no_change_counter(tmp_path: Path) -> None:
    """For a file that isn't a database, callers fall back to a query, whose error says what is wrong."""
    (tmp_path / "arena.sqlite3").write_bytes(b"rubbish " * 999)
    change_counter = ChangeCounter(Database(f"sqlite:///{tmp_path / 'arena.sqlite3'}"))
    assert change_counter() is None
    change_counter.close()
    change_counter.close()
