"""Fixtures: an author and a site, for commands that use a site, and an operator with an arena's database."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.author import Author
from tests.cli.operator import Operator
from tests.client.live import Live, live
from tests.databases import sqlite_store


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """Yield a site that a module's tests share. Each test has its own authors and bots."""
    plenty = {"ARENA_BOTS_PER_AUTHOR": "99", "ARENA_SUBMISSIONS_A_DAY": "99"}
    with live(tmp_path_factory.mktemp("data"), **plenty) as running:
        yield running


@pytest.fixture
def author(tmp_path: Path, site: Live) -> Author:
    """Return an author who is not logged in."""
    return Author(tmp_path, site)


@pytest.fixture
def empty(tmp_path: Path) -> Operator:
    """Return the operator of an arena without bots and accounts."""
    file = tmp_path / "arena.sqlite3"
    sqlite_store(file).close()
    return Operator(f"sqlite:///{file}")


@pytest.fixture(scope="session")
def filled_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the SQLite file of a filled arena, to be copied."""
    file = tmp_path_factory.mktemp("operator") / "arena.sqlite3"
    sqlite_store(file).close()
    Operator(f"sqlite:///{file}").fill()
    return file


@pytest.fixture
def operator(filled_file: Path, tmp_path: Path) -> Operator:
    """Return the operator of a filled arena."""
    file = shutil.copy(filled_file, tmp_path / "arena.sqlite3")
    return Operator(f"sqlite:///{file}")
