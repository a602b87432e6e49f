"""What the site's tests share: a store with played games, and a client of the site on it."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from arena.store import Store, open_store
from tests.builders import fill
from web import create_app


@pytest.fixture
def empty_store(tmp_path: Path) -> Iterator[Store]:
    """Give a store in which nothing is."""
    with closing(open_store(f"sqlite:///{tmp_path / 'arena.sqlite3'}")) as store:
        yield store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Give a store with games, for reading only."""
    with closing(open_store(f"sqlite:///{tmp_path_factory.mktemp('store') / 'arena.sqlite3'}")) as store:
        fill(store)
        yield store


@pytest.fixture(scope="module")
def client(store: Store) -> TestClient:
    """Give a client of the site with games."""
    return TestClient(create_app(store.reads))
