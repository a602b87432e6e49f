"""Fixtures shared by the scheduler's tests."""

from collections.abc import Iterator
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from arena.db.store import Store
from tests.databases import sqlite_store


@pytest.fixture(autouse=True)
def _any_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start matches regardless of the host's load. Otherwise each might wait for a minute."""
    monkeypatch.setattr("arena.scheduler.workers.load_monitor", lambda _: nullcontext())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Yield an empty store."""
    with closing(sqlite_store(tmp_path / "arena.sqlite3")) as store:
        yield store
