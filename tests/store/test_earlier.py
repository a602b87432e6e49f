"""Databases of every earlier revision, with something in them, on both kinds of database."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from arena.match import RuntimeName
from arena.replay import parse, verify
from arena.store import BotState, open_store
from arena.store.database import Database
from arena.store.migrate import alembic_config
from arena.store.models import Base
from arena.store.revision import VERSION_TABLE
from tests.store import earlier
from tests.store.builders import finished
from tests.store.earlier.bots import AUTHOR_GONE, LEFT
from tests.store.earlier.moments import at
from tests.store.earlier.tables import held, shape

_REVISIONS = [script.revision for script in ScriptDirectory.from_config(alembic_config()).walk_revisions()][
    ::-1
]
"""From the first to the newest."""

Held = dict[str, dict[tuple[Any, ...], Any]]


@pytest.fixture(params=_REVISIONS)
def revision(request: pytest.FixtureRequest) -> str:
    """Give a revision."""
    return str(request.param)


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    """Give a way to an empty database."""
    with closing(Database(url)) as database:
        yield database


def filled(database: Database, revision: str) -> tuple[Held, set[tuple[str, str]]]:
    """Bring an empty database to a revision and fill it; return what it holds, and its shape."""
    with database.write() as connection:
        command.upgrade(alembic_config(connection), revision)
        earlier.fill(connection, revision)
        return held(connection), shape(connection)


def known_of(rows: Held, before: Held) -> Held:
    """Leave out the columns and tables that were not known before."""
    return {
        table: {
            key: {column: row[column] for column in next(iter(old.values()))}
            for key, row in rows[table].items()
        }
        for table, old in before.items()
    }


def expected(before: Held, revision: str) -> Held:
    """Say what is left of what was held: all; but what ran waits again if nobody knows who played it."""
    if revision >= "0009":
        return before
    matches = {
        key: row | {"state": "waiting", "started": None} if row["state"] == "running" else row
        for key, row in before["match"].items()
    }
    return before | {"match": matches}


def test_nothing_is_lost_on_the_way_up_and_down(url: str, database: Database, revision: str) -> None:
    """All rows are there at the newest revision, whose tables are the models', and back at the old one."""
    before, tables = filled(database, revision)
    assert [table for table, rows in before.items() if not rows] == [], (
        "tests/store/earlier fills every table"
    )

    open_store(url).close()
    with database.read() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, Base.metadata) == []
        assert known_of(held(connection), before) == expected(before, revision)

    with database.write() as connection:
        command.downgrade(alembic_config(connection), revision)
    with database.read() as connection:
        assert shape(connection) ^ tables == set()
        assert held(connection) == expected(before, revision)


def test_what_the_newest_program_has_written_goes_down_step_by_step(url: str, database: Database) -> None:
    """To the tables that each revision made; what is left at the first one can be played on, and goes too."""
    shapes = {}
    for each in _REVISIONS:
        with database.write() as connection:
            command.upgrade(alembic_config(connection), each)
            shapes[each] = shape(connection)
    with database.write() as connection:
        earlier.fill(connection, _REVISIONS[-1])
    for each in _REVISIONS[-2::-1]:
        with database.write() as connection:
            command.downgrade(alembic_config(connection), each)
            assert shape(connection) ^ shapes[each] == set()
    with database.read() as connection:
        games = len(held(connection)["game"])
    with closing(open_store(url)) as store:
        assert store.reads.totals().games == games > 0
        store.writes.rebuild_ratings()  # an older program knows of no disqualification
        while claim := store.leases.claim("here", "worker", at(400), RuntimeName.DOCKER):
            places = [range(1, len(claim.seats) + 1)] * len(claim.spec.seeds)
            assert store.writes.record(finished(claim, places))
        assert store.reads.totals().games > games
        assert store.writes.rebuild_ratings().differing == 0
    with database.write() as connection:
        command.downgrade(alembic_config(connection), "base")
        assert {table for table, _ in shape(connection)} == {VERSION_TABLE}


def test_an_older_database_is_one_to_go_on_with(url: str, database: Database, revision: str) -> None:
    """Ratings are those of the log, statistics and replays those of the records; what waits is played."""
    before, _ = filled(database, revision)
    games = len(before["game"])
    with closing(open_store(url)) as store:
        assert store.writes.rebuild_ratings().differing == 0
        counted = store.writes.rebuild_cards()
        assert counted.missing == (0 if revision >= "0007" else games)
        assert counted.differing == 0 or counted.missing
        for game in store.reads.games():
            page = store.reads.game(game.game)
            assert page is not None
            assert verify(parse(page.replay)) is None
        left = store.bots.find(LEFT.bot)
        assert left is not None
        if revision >= "0003":  # before, nobody had an account
            assert (left.state, left.reason, left.since) == (BotState.RETIRED, AUTHOR_GONE, at(60))
        while claim := store.leases.claim("here", "worker", at(400), RuntimeName.DOCKER):
            places = [range(1, len(claim.seats) + 1)] * len(claim.spec.seeds)
            assert store.writes.record(finished(claim, places))
        assert store.writes.rebuild_ratings().differing == 0
        assert store.writes.rebuild_cards().differing == 0
        assert store.reads.totals().games > games
