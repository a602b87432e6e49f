"""One store a test, on each kind of database."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.db.store import Store, open_store
from tests.databases import sqlite_store


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def url(request: pytest.FixtureRequest) -> str:
    """Give the address of a new arena's database: it has the tables, and no rows."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def empty_url(request: pytest.FixtureRequest) -> str:
    """Give the address of a database without tables."""
    return str(request.getfixturevalue(f"empty_{request.param}_url"))


@pytest.fixture
def sqlite_url(empty_sqlite_url: str, tmp_path: Path) -> str:
    """Give the address of a new arena's SQLite database."""
    sqlite_store(tmp_path / "arena.sqlite3").close()
    return empty_sqlite_url


@pytest.fixture
def empty_sqlite_url(tmp_path: Path) -> str:
    """Give the address of a SQLite database that is not there yet."""
    return f"sqlite:///{tmp_path / 'arena.sqlite3'}"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """Give an open, empty store."""
    with closing(open_store(url)) as opened:
        yield opened
