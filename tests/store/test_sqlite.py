"""Readers and writers of one SQLite file."""

import os
import threading
from pathlib import Path

import pytest
from sqlalchemy import select, text

from arena.store import Store, open_store
from arena.store.bot_models import Bot
from arena.store.database import Database
from tests.store.builders import add_bot


def test_reads_go_on_while_something_is_written(sqlite_url: str) -> None:
    """A reader sees what was there before, at once, and the new after the commit."""
    store = open_store(sqlite_url)
    add_bot(store, "a")
    database = Database(sqlite_url)
    with database.write() as connection:
        connection.execute(text("UPDATE bot SET author = 'zoe'"))
        assert [line.author for line in store.reads.leaderboard()] == ["ann"]
    assert [line.author for line in store.reads.leaderboard()] == ["zoe"]
    database.close()
    store.close()


def test_a_reader_keeps_its_view(sqlite_url: str) -> None:
    """What is written meanwhile doesn't change what one read transaction sees."""
    store = open_store(sqlite_url)
    add_bot(store, "a")
    database = Database(sqlite_url)
    with database.read() as connection:
        assert connection.execute(select(Bot.name)).scalars().all() == ["a"]
        add_bot(store, "b")
        assert connection.execute(select(Bot.name)).scalars().all() == ["a"]
    assert store.reads.totals().bots == 2
    database.close()
    store.close()


def test_a_second_writer_waits(sqlite_url: str) -> None:
    """While one transaction writes another begins only after its commit, and sees what it wrote."""
    store = open_store(sqlite_url)
    database = Database(sqlite_url)
    seen: list[int] = []
    second = threading.Thread(target=lambda: seen.append(add_bot(store, "b")))
    with database.write() as connection:
        connection.execute(
            text("INSERT INTO bot (id, name, author, house, newest) VALUES (7, 'a', 'ann', 0, 0)")
        )
        second.start()
        second.join(timeout=0.3)
        assert second.is_alive()
    second.join()
    assert len(seen) == 1
    database.close()
    store.close()


def test_the_file_survives_a_power_cut(sqlite_url: str) -> None:
    """Every connection writes ahead, waits for the disk, and checks references."""
    open_store(sqlite_url).close()
    database = Database(sqlite_url)
    with database.read() as connection:
        pragmas = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    database.close()
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 60_000}


def test_a_copy_of_the_file_is_a_whole_store(sqlite_url: str, tmp_path: Path) -> None:
    """After closing, the one file holds everything."""
    store = open_store(sqlite_url)
    add_bot(store, "a")
    store.close()
    copy = tmp_path / "copy.sqlite3"
    copy.write_bytes((tmp_path / "arena.sqlite3").read_bytes())
    again: Store = open_store(f"sqlite:///{copy}")
    assert [line.bot for line in again.reads.leaderboard()] == ["a"]
    again.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files for others")
def test_what_root_makes_in_the_folder_of_another_is_theirs(tmp_path: Path) -> None:
    """The site's user can write to a database that the arena has made as root; nobody else can read it."""
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
