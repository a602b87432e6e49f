"""The generated store for measuring pages looks like one in which games were played."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

from arena.db.database import Database
from arena.db.store import Store
from benchmarks.crowd import Crowd, fill
from benchmarks.pages import paths
from tests.databases import sqlite_store
from tests.web.app import site_of

CROWD = Crowd(bots=60, games=150)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a generated store."""
    folder = tmp_path_factory.mktemp("crowd")
    fill(folder / "arena.sqlite3", CROWD)
    return folder


@pytest.fixture(scope="module")
def store(folder: Path) -> Iterator[Store]:
    """Yield the store."""
    with closing(sqlite_store(folder / "arena.sqlite3")) as store:
        yield store


def test_the_store_has_the_requested_size(store: Store) -> None:
    """The last match may add a few games, since matches aren't split."""
    totals = store.activity.totals()
    assert totals.bots == CROWD.bots
    assert CROWD.games <= totals.games <= CROWD.games + 6
    assert sum(line.entry.games for line in store.ratings.standings()) > 2 * totals.games


def test_every_measured_page_exists(store: Store, folder: Path) -> None:
    """The addresses are those that the measurement requests."""
    client = TestClient(site_of(store))
    for name, path in paths(folder).items():
        assert client.get(path).status_code == 200, name


@pytest.mark.parametrize(
    "wrong",
    [
        # The log and the games have no gaps.
        (
            "SELECT 1 FROM ladder WHERE events <> (SELECT count(*) FROM rating_event)"
            " OR events <> (SELECT max(number) FROM rating_event)"
        ),
        (
            "SELECT 1 FROM ladder WHERE games <> (SELECT count(*) FROM game)"
            " OR games <> (SELECT max(number) FROM game)"
        ),
        # A rating has the value after its last change.
        (
            "SELECT 1 FROM rating r WHERE (mean, deviation) <> (SELECT mean_after, deviation_after"
            " FROM rating_change c WHERE c.version_id = r.version_id AND c.players = r.players"
            " ORDER BY event_number DESC LIMIT 1)"
        ),
        # Each change begins with the value after the previous one.
        (
            "SELECT 1 FROM (SELECT mean_before, lag(mean_after) OVER (PARTITION BY version_id, players"
            " ORDER BY event_number) AS before FROM rating_change) WHERE mean_before IS NOT before"
        ),
        # Ratings count the games that were played.
        (
            "SELECT 1 FROM rating r WHERE players = 0 AND games <>"
            " (SELECT count(*) FROM game_seat s WHERE s.version_id = r.version_id)"
        ),
        "SELECT 1 FROM game g WHERE players <> (SELECT count(*) FROM game_seat WHERE game_number = g.number)",
        "PRAGMA foreign_key_check",
    ],
)
def test_the_store_is_consistent(store: Store, folder: Path, wrong: str) -> None:
    """Pages rely on the conditions that these queries check."""
    assert store.activity.totals().games
    database = Database(f"sqlite:///{folder / 'arena.sqlite3'}")
    with database.read() as connection:
        assert connection.execute(text(wrong)).all() == []
    database.close()
