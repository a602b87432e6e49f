"""One store a test, on each kind of database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.store import Store, open_store


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Give the address of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'arena.sqlite3'}"
    return str(request.getfixturevalue("postgresql_url"))


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """Give the address of an empty SQLite database."""
    return f"sqlite:///{tmp_path / 'arena.sqlite3'}"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """Give an open, empty store."""
    opened = open_store(url)
    yield opened
    opened.close()
