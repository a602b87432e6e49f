"""Fixtures shared by the scheduler's tests."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.db.store import Store
from tests.databases import sqlite_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Yield an empty store."""
    with closing(sqlite_store(tmp_path / "arena.sqlite3")) as store:
        yield store


@pytest.fixture
def run_dir() -> Iterator[Path]:
    """Yield a folder for sockets, with a short path."""
    folder = Path(tempfile.mkdtemp(prefix="kaiten-c-"))
    yield folder
    shutil.rmtree(folder)
