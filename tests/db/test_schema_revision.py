"""Tests of opening databases: current, new, old, damaged, and those of other programs."""

import re
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import CheckConstraint, PrimaryKeyConstraint, inspect, text
from sqlalchemy.exc import IntegrityError

from arena.db.database import Database, check_integrity
from arena.db.errors import DatabaseRefused, DatabaseUnavailable, StoreError
from arena.db.schema import Base
from arena.db.schema_revision import FIRST_REVISION, NEWEST_REVISION, VERSION_TABLE, alembic_config
from arena.db.store import open_store
from tests.db.builders import add_bot, add_matches, finished, next_claim, run_sql
from tests.db.next_version import NEXT_REVISION, become
from tests.kinds import on_both
from tests.patience import WAIT_SECONDS
from tests.soak import SOAK


def test_several_may_open_a_new_database_at_once(empty_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One process creates the tables, and the others wait for it."""
    monkeypatch.setattr("arena.db.database._BUSY_SECONDS", WAIT_SECONDS)
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(open_store, [empty_url] * 4))
    assert [store.activity.totals().bots for store in stores] == [0] * 4
    for store in stores:
        store.close()


def test_the_newest_revision_is_that_of_the_last_migration() -> None:
    """The constant, which saves programs from loading all migrations, is up to date."""
    scripts = ScriptDirectory.from_config(alembic_config())
    assert (scripts.get_base(), scripts.get_current_head()) == (FIRST_REVISION, NEWEST_REVISION)


def test_later_revisions_are_larger() -> None:
    """Revisions are increasing numbers of four digits, unlike those from before the first release."""
    scripts = ScriptDirectory.from_config(alembic_config())
    upwards = [script.revision for script in scripts.walk_revisions()][::-1]
    assert upwards == sorted(upwards)
    assert all(re.fullmatch("[0-9]{4}", each) for each in upwards)


@on_both
def test_migrations_create_the_tables_of_the_models(database: Database) -> None:
    """A migrated database's tables are exactly those of the models."""
    with database.read() as connection:
        opts = {"version_table": VERSION_TABLE, "compare_server_default": True}
        context = MigrationContext.configure(connection, opts=opts)
        assert compare_metadata(context, Base.metadata) == []
        look = inspect(connection)
        for table in Base.metadata.sorted_tables:  # not compared by alembic
            keys = look.get_pk_constraint(table.name)
            assert keys["constrained_columns"] == [column.name for column in table.primary_key]
            assert {keys["name"], *(each["name"] for each in look.get_check_constraints(table.name))} == {
                constraint.name
                for constraint in table.constraints
                if isinstance(constraint, CheckConstraint | PrimaryKeyConstraint)
            }
        if database.is_sqlite:
            made = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
            lean = {name for name, statement in made if "WITHOUT ROWID" in statement}
            assert lean == {
                table.name
                for table in Base.metadata.sorted_tables
                if table.dialect_options["sqlite"]["with_rowid"] is False
            }


def test_a_database_from_before_the_first_release_is_refused(url: str) -> None:
    """The database is unchanged. The error says how to start with a new one, and how to use the old one."""
    run_sql(url, "UPDATE kaiten_schema SET version_num = '0018'")
    said = "at revision 0018, which predates the first release.* set ARENA_DATABASE_URL"
    for migrates in (False, True):
        with pytest.raises(DatabaseRefused, match=f"{said}.*To keep its games, use the version that made it"):
            open_store(url, migrates=migrates)
        assert revision(url) == "0018"


def test_a_newer_database_is_left_alone(url: str) -> None:
    """A newer database is refused. The error says what to do."""
    run_sql(url, "UPDATE kaiten_schema SET version_num = '9999'")
    with pytest.raises(
        DatabaseRefused, match=r"newer version of Kaiten .* at revision 9999.*install that version"
    ):
        open_store(url)


def test_a_database_of_another_program_is_left_alone(empty_sqlite_url: str) -> None:
    """Tables of another program are unchanged, and none is added to them."""
    run_sql(empty_sqlite_url, "CREATE TABLE recipe (id INTEGER)")
    with pytest.raises(
        DatabaseRefused, match=r"not an arena database \(it has the table recipe.*another one"
    ):
        open_store(empty_sqlite_url)
    with closing(Database(empty_sqlite_url)) as database, database.read() as connection:
        assert inspect(connection).get_table_names() == ["recipe"]


def test_a_file_that_is_no_database_is_left_alone(empty_sqlite_url: str, tmp_path: Path) -> None:
    """Opening such a file is an error, and leaves it unchanged."""
    file = tmp_path / "arena.sqlite3"
    rubbish = b"This is a shopping list. " * 400
    file.write_bytes(rubbish)
    with pytest.raises(DatabaseRefused, match=r"arena\.sqlite3: file is not a database.*backup"):
        open_store(empty_sqlite_url)
    assert file.read_bytes() == rubbish


def test_a_damaged_database_is_refused(sqlite_url: str, tmp_path: Path) -> None:
    """Opening a file detects overwritten pages in its middle."""
    store = open_store(sqlite_url)
    versions = [add_bot(store, name) for name in "ab"]
    add_matches(store, "s", versions, deals=100, matches=1)
    while claim := next_claim(store):
        assert store.results.record(finished(claim, [(1, 2)] * 100))
    store.close()
    file = tmp_path / "arena.sqlite3"
    data = bytearray(file.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 3 * 4096] = b"\xa5" * (3 * 4096)
    file.write_bytes(data)
    with pytest.raises(DatabaseRefused, match="move it aside, and restore a backup with `arena restore"):
        open_store(sqlite_url)


def test_the_check_of_a_large_file_ends(sqlite_url: str) -> None:
    """The check stops after its time limit, and the connection can still be used."""
    store = open_store(sqlite_url)
    add_matches(store, "s", [add_bot(store, name) for name in "ab"], deals=24, matches=2)
    store.close()
    with closing(Database(sqlite_url)) as database, database.read() as connection:
        connection.execute(text("CREATE TEMP TABLE large AS SELECT zeroblob(3000) AS filler FROM bot"))
        for _ in range(12):
            connection.execute(text("INSERT INTO large SELECT filler FROM large"))
        check_integrity(connection, sqlite_url, seconds=0)
        assert connection.execute(text("SELECT count(*) FROM large")).scalar_one() == 2 * 2**12


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    """If the folder is missing, the database isn't created elsewhere."""
    with pytest.raises(DatabaseUnavailable, match="nowhere doesn't exist"):
        open_store(f"sqlite:///{tmp_path / 'nowhere' / 'arena.sqlite3'}")


@pytest.mark.postgresql
def test_an_unreachable_server_is_reported(postgresql_url: str) -> None:
    """The error has the server's address without the password."""
    there = postgresql_url.replace("postgres@", "postgres:secret@")
    elsewhere = there[: there.index("?")] + "?host=/nowhere"
    with pytest.raises(DatabaseUnavailable, match="/nowhere") as caught:
        open_store(elsewhere)
    assert "secret" not in str(caught.value)


def test_errors_do_not_show_written_values(empty_sqlite_url: str) -> None:
    """Errors are logged, so they omit the written values, which may include a password's hash."""
    database = Database(empty_sqlite_url)

    def write() -> None:
        with database.write() as connection:
            connection.execute(text("CREATE TABLE t (name VARCHAR(9) UNIQUE, hash VARCHAR(9))"))
            row = {"name": "ann", "hash": "hunter2"}
            connection.execute(text("INSERT INTO t VALUES (:name, :hash)"), [row, row])

    with pytest.raises(IntegrityError, match="INSERT") as caught:
        write()
    database.close()
    assert "hunter2" not in str(caught.value)


def test_a_silent_server_times_out() -> None:
    """A server that accepts the connection and then hangs is unavailable after a timeout.

    The address can set the timeout. ``make soak`` tests the default.
    """
    patience = "" if SOAK else "?connect_timeout=2"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql+psycopg://ann@127.0.0.1:{silent.getsockname()[1]}/arena{patience}"
        with ThreadPoolExecutor(1) as thread, pytest.raises(DatabaseUnavailable, match="timeout"):
            thread.submit(open_store, url).result(timeout=WAIT_SECONDS)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "mysql://localhost/a", "a.sqlite3"])
def test_other_addresses_are_refused(url: str) -> None:
    """Only SQLite files and PostgreSQL can be used."""
    with pytest.raises(StoreError, match="sqlite:///FILE"):
        open_store(url)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql:/ann:hunter2@host/arena",
        "postgresql+psycopg://ann:hunter2@host:port/arena",
        "postgresql+psycopg://ann:a@hunter2@host/arena",
        "postgres://ann:hunter2@host/arena",
        "postgresql+psycopg2://ann:hunter2@host/arena",
        "mysql://host/arena?password=hunter2",
        "postgresql+psycopg:///arena?host=/nowhere&password=hunter2&sslpassword=hunter2",
    ],
)
def test_no_address_shows_a_password(url: str) -> None:
    """No error about an invalid address shows its password, wherever the password is in the address."""
    with pytest.raises(StoreError, match=r"sqlite:///FILE|host=/nowhere|host=%2Fnowhere") as caught:
        open_store(url)
    assert "hunter2" not in str(caught.value)


def revision(url: str) -> str:
    """Return the revision of a database's tables."""
    with closing(Database(url)) as database, database.read() as connection:
        return str(connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one())  # noqa: S608 - our own name


@on_both
def test_a_reader_does_not_migrate_older_tables(
    url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The error says what to do. After the arena has migrated its tables, they can be read."""
    with closing(open_store(url)) as store:
        add_bot(store, "a")
    become(monkeypatch, tmp_path)
    with pytest.raises(
        DatabaseRefused, match=f"at revision {NEWEST_REVISION}, but this program needs {NEXT_REVISION}: use"
    ):
        open_store(url, migrates=False)
    assert revision(url) == NEWEST_REVISION
    open_store(url).close()
    assert revision(url) == NEXT_REVISION
    with closing(open_store(url, migrates=False)) as store:
        assert [bot.name for bot in store.bots.listed()] == ["a"]


@on_both
def test_tables_are_not_changed_under_an_older_arena(
    url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """While an older arena has the coordinator lock, no program migrates its tables."""
    with closing(open_store(url)) as older:
        assert older.coordinator_lock.take()
        become(monkeypatch, tmp_path)
        with pytest.raises(
            DatabaseRefused, match=r"another arena is using .*: if that arena is an older version, stop it"
        ):
            open_store(url)
        assert revision(url) == NEWEST_REVISION
        older.coordinator_lock.release()
    open_store(url).close()
    assert revision(url) == NEXT_REVISION
