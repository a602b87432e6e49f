"""Tests of databases that can be read but not written. They are used again once they accept writes."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from traceback import format_exception

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url, text
from sqlalchemy.exc import DBAPIError

from arena.db.database import Database
from arena.db.errors import DatabaseUnavailable, DatabaseUnwritable
from arena.db.store import Store, open_store
from tests.db.builders import add_bot, add_matches, next_claim, next_match
from tests.kinds import on_postgresql
from tests.postgresql import Cluster

SECRET = "hunter2"  # noqa: S105 - the test's own


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """Yield a store with waiting matches."""
    with closing(open_store(url)) as store:
        add_matches(store, "s", [add_bot(store, name) for name in ("a", "b")])
        yield store


def test_a_writable_database_is_ready_and_unchanged(store: Store) -> None:
    """Checking whether a database accepts writes changes nothing, not even the change counter."""
    before = (store.change_counter(), store.activity.totals())
    for _ in range(3):
        store.check()
    assert (store.change_counter(), store.activity.totals()) == before


@contextmanager
def read_only(cluster: Cluster, url: str) -> Iterator[None]:
    """Make a database read-only for new connections."""
    name = sql.Identifier(make_url(url).database or "")
    with psycopg.connect(cluster.address("postgres"), autocommit=True) as server:
        change = "ALTER DATABASE {} {} default_transaction_read_only"
        server.execute(sql.SQL(change).format(name, sql.SQL("SET")) + sql.SQL(" = on"))
        try:
            yield
        finally:
            server.execute(sql.SQL(change).format(name, sql.SQL("RESET")))


@pytest.mark.postgresql
def test_a_read_only_server_is_unavailable_until_it_accepts_writes(
    postgresql_cluster: Cluster, postgresql_url: str
) -> None:
    """Like a standby server, it allows reads. Writes fail as if the server were unavailable."""
    with closing(open_store(postgresql_url)) as store:
        (match, *_) = add_matches(store, "s", [add_bot(store, name) for name in ("a", "b")])
    with closing(Database(postgresql_url)) as database, read_only(postgresql_cluster, postgresql_url):
        refused = pytest.raises(
            DatabaseUnwritable, match=r"read-only transaction\. The database is read-only"
        )
        with refused, database.write() as connection:
            connection.execute(text("DELETE FROM ladder"))
    with read_only(postgresql_cluster, postgresql_url):
        store = open_store(postgresql_url)
        assert store.activity.totals().matches_waiting == 2
        with pytest.raises(DatabaseUnwritable):
            store.check()
        with pytest.raises(DatabaseUnavailable, match="read-only transaction"):
            next_claim(store)
        with pytest.raises(DatabaseUnavailable, match="read-only transaction"):
            store.leases.renew("one", [match])
    store.check()
    assert next_match(store) == match
    store.close()


def test_a_locked_file_is_not_ready(sqlite_url: str, tmp_path: Path) -> None:
    """Writers would wait, so the check fails immediately, as it does if the file has been moved."""
    file = tmp_path / "arena.sqlite3"
    with closing(open_store(sqlite_url)) as store:
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert store.activity.totals().games == 0
            with pytest.raises(DatabaseUnwritable, match="database is locked"):
                store.check()
        store.check()
        file.rename(tmp_path / "elsewhere")
        with pytest.raises(DatabaseUnwritable, match="unable to open"):
            store.check()


@on_postgresql
@pytest.mark.parametrize(
    ("wrong", "shown"),
    [
        ("INSERT INTO bot SELECT * FROM bot WHERE name = :secret", '"pk_bot"'),
        ("UPDATE bot SET state = :secret", '"ck_bot_state"'),
        ("UPDATE bot SET since = CAST(CAST(:secret AS text) AS timestamptz)", '"…"'),
    ],
)
def test_errors_show_no_values_of_rows(store: Store, database: Database, wrong: str, shown: str) -> None:
    """Errors are logged with all their causes, so they omit rows, which may include a password's hash."""
    add_bot(store, SECRET)
    with pytest.raises(DBAPIError) as caught, database.write() as connection:
        connection.execute(text(wrong), {"secret": SECRET})
    told = "".join(format_exception(caught.value))
    assert told.count(shown) == 2
    assert SECRET not in told
    assert "DETAIL" not in told
