"""Stores on SQLite or on each kind of database (tests/kinds.py). ``filled`` is for tests that only read."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from arena.db.credentials import KnownAccount
from arena.db.database import Database
from arena.db.store import Store, open_store
from tests.copies import Copies
from tests.databases import sqlite_store
from tests.db.builders import add_account
from tests.kinds import BOTH, SHARE
from tests.postgresql import Cluster


@pytest.fixture(params=SHARE)
def url(request: pytest.FixtureRequest) -> str:
    """Return the address of a new arena's database, which has tables but no rows."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture(params=BOTH)
def empty_url(request: pytest.FixtureRequest) -> str:
    """Return the address of a database without tables."""
    return str(request.getfixturevalue(f"empty_{request.param}_url"))


@pytest.fixture
def sqlite_url(empty_sqlite_url: str, tmp_path: Path) -> str:
    """Return the address of a new arena's SQLite database."""
    sqlite_store(tmp_path / "arena.sqlite3").close()
    return empty_sqlite_url


@pytest.fixture
def empty_sqlite_url(tmp_path: Path) -> str:
    """Return the address of an SQLite database that doesn't exist yet."""
    return f"sqlite:///{tmp_path / 'arena.sqlite3'}"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """Yield an open, empty store."""
    with closing(open_store(url)) as opened:
        yield opened


@pytest.fixture
def ben(store: Store) -> KnownAccount:
    """Add an account."""
    return add_account(store, "ben")


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    """Yield a separate connection pool to the store's database."""
    with closing(Database(url)) as opened:
        yield opened


@pytest.fixture(scope="module", params=SHARE)
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Yield a store, filled by the test file's ``fill_store`` and shared by all tests in the file."""
    with ExitStack() as opened:
        if request.param == "sqlite":
            store = sqlite_store(tmp_path_factory.mktemp("filled") / "arena.sqlite3")
        else:
            copies: Copies = request.getfixturevalue("postgresql_copies")
            cluster: Cluster = request.getfixturevalue("postgresql_cluster")
            name = opened.enter_context(copies.one())
            store = open_store(cluster.address(name, scheme="postgresql+psycopg"))
        opened.callback(store.close)
        request.module.fill_store(store)
        yield store
