"""The store in which pages are measured: as one that was played in."""

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
    """Give a folder with such a store."""
    folder = tmp_path_factory.mktemp("crowd")
    fill(folder / "arena.sqlite3", CROWD)
    return folder


@pytest.fixture(scope="module")
def store(folder: Path) -> Iterator[Store]:
    """Give the store."""
    with closing(sqlite_store(folder / "arena.sqlite3")) as store:
        yield store


def test_it_is_as_large_as_was_asked_for(store: Store) -> None:
    """But for the rest of a match, whose games belong together."""
    totals = store.activity.totals()
    assert totals.bots == CROWD.bots
    assert CROWD.games <= totals.games <= CROWD.games + 6
    assert sum(line.games for line in store.ratings.standings()) > 2 * totals.games


def test_every_page_that_is_measured_is_there(store: Store, folder: Path) -> None:
    """At the address that is asked for."""
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
        # A rating is where the last change led to.
        (
            "SELECT 1 FROM rating r WHERE (mean, deviation) <> (SELECT mean_after, deviation_after"
            " FROM rating_change c WHERE c.version_id = r.version_id AND c.players = r.players"
            " ORDER BY event_number DESC LIMIT 1)"
        ),
        # Each change begins where the one before it ended.
        (
            "SELECT 1 FROM (SELECT mean_before, lag(mean_after) OVER (PARTITION BY version_id, players"
            " ORDER BY event_number) AS before FROM rating_change) WHERE mean_before IS NOT before"
        ),
        # What is counted was played.
        (
            "SELECT 1 FROM rating r WHERE players = 0 AND games <>"
            " (SELECT count(*) FROM game_seat s WHERE s.version_id = r.version_id)"
        ),
        "SELECT 1 FROM game g WHERE players <> (SELECT count(*) FROM game_seat WHERE game_number = g.number)",
        "PRAGMA foreign_key_check",
    ],
)
def test_nothing_in_it_is_at_odds(store: Store, folder: Path, wrong: str) -> None:
    """What pages rely on holds."""
    assert store.activity.totals().games
    database = Database(f"sqlite:///{folder / 'arena.sqlite3'}")
    with database.read() as connection:
        assert connection.execute(text(wrong)).all() == []
    database.close()
