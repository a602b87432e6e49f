"""Tests of migrations: a future one, on a database with rows in every table, and earlier ones."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table, insert, inspect, select, text
from sqlalchemy.exc import IntegrityError

from arena.db.database import Database
from arena.db.schema import Base
from arena.db.schema_revision import NEWEST_REVISION, upgrade
from arena.db.store import open_store
from arena.play.replay.document import parse
from arena.play.replay.verify import verify
from tests.databases import sqlite_store
from tests.db.builders import finished, next_claim, present
from tests.db.every_table import fill_every_table, held
from tests.db.next_version import NEXT_REVISION, NICKNAMES, become
from tests.db.test_schema_revision import revision
from tests.kinds import on_both

Held = dict[str, dict[tuple[Any, ...], Any]]


@pytest.fixture(scope="module")
def filled_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an SQLite file whose tables all have rows."""
    file = tmp_path_factory.mktemp("filled") / "arena.sqlite3"
    with closing(sqlite_store(file)) as store:
        fill_every_table(store)
    return file


@pytest.fixture
def database(url: str, filled_file: Path) -> Iterator[Database]:
    """Yield a database whose tables all have rows."""
    with closing(Database(url)) as database:
        if database.file is not None:
            shutil.copy(filled_file, database.file)
        else:
            with closing(open_store(url)) as store:
                fill_every_table(store)
        yield database


def rows_of(database: Database) -> Held:
    """Return all rows."""
    with database.read() as connection:
        return {name: dict(rows) for name, rows in held(connection).items()}


@on_both
def test_a_migration_loses_nothing(
    url: str, database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A migration keeps all rows, and the arena continues with them. One that fails changes nothing."""
    before = rows_of(database)
    assert [table for table, rows in before.items() if not rows] == [], "fill_every_table left tables empty"
    fail(database, before, monkeypatch, tmp_path / "failing")
    become(monkeypatch, tmp_path)
    open_store(url).close()
    assert revision(database.url) == NEXT_REVISION
    with database.read() as connection:
        named = connection.execute(text("SELECT count(*) FROM bot WHERE nickname = upper(name)")).scalar_one()
    assert named == len(before["bot"])
    after = rows_of(database)
    after["bot"] = {
        key: {column: value for column, value in row.items() if column != "nickname"}
        for key, row in after["bot"].items()
    }
    assert after == before
    go_on(url, games=len(before["game"]))


def fail(database: Database, before: Held, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Run a migration that fails. Nothing in the database changes, and the current version still works."""
    folder.mkdir()
    with monkeypatch.context() as patch:
        become(patch, folder, (*NICKNAMES, "DELETE FROM live_game", "UPDATE ladder SET id = 2"))
        with pytest.raises(IntegrityError, match="ck_ladder_one_row"):
            open_store(database.url)
    assert revision(database.url) == NEWEST_REVISION
    assert rows_of(database) == before
    with database.read() as connection:
        assert "nickname" not in {column["name"] for column in inspect(connection).get_columns("bot")}
    with closing(open_store(database.url)) as store:
        assert store.activity.totals().bots == len(before["bot"])


def go_on(url: str, games: int) -> None:
    """Check ratings, statistics and replays against the log and the records, and play the waiting matches."""
    with closing(open_store(url)) as store:
        assert store.ladder.rebuild().differing == 0
        assert store.cards.rebuild().differing == 0
        for game in store.games.newest():
            page = present(store.games.find(game.game))
            assert not page.replay or verify(parse(page.replay)) is None
        while claim := next_claim(store):
            places = [range(1, len(claim.seats) + 1)] * len(claim.spec.seeds)
            assert store.results.record(finished(claim, places))
        assert store.activity.totals().games > games
        assert store.ladder.rebuild().differing == 0
        assert store.cards.rebuild().differing == 0


ADDED = {
    "submission": "check_only",
    "upload": "check_only",
    "game_seat": "after_two",
    "ladder": "paused_changed",
}
"""Columns added after 0100."""

ADDED_TABLES = ("subscription", "notice", "held_rank")
"""Tables added after 0100."""


@pytest.fixture(scope="module")
def newest(filled_file: Path) -> list[tuple[Table, list[dict[str, Any]]]]:
    """Return the rows of all current tables, in an order in which they can be inserted."""
    with closing(Database(f"sqlite:///{filled_file}")) as database, database.read() as connection:
        return [
            (table, [row._asdict() for row in connection.execute(select(table))])
            for table in Base.metadata.sorted_tables
        ]


def test_earlier_revisions_are_migrated(
    empty_url: str, newest: list[tuple[Table, list[dict[str, Any]]]]
) -> None:
    """Rows are kept, new columns get defaults, old ones are dropped, and SQLite checks foreign keys again."""
    with closing(Database(empty_url)) as database, database.migrate() as connection:
        upgrade(connection, "0100")
        for table, rows in newest:
            if table.name in ADDED_TABLES:
                continue
            columns = {column["name"] for column in inspect(connection).get_columns(table.name)}
            if table.name == "ladder":  # its row has a column that has been dropped
                old = {name: value for name, value in rows[0].items() if name in columns}
                connection.execute(table.update().values(old))
                continue
            connection.execute(table.delete())
            connection.execute(
                insert(table),
                [
                    {name: value for name, value in row.items() if name in columns}
                    for row in rows
                    if row.get("stage") != "passed"
                ],
            )
        before = {name: dict(rows) for name, rows in held(connection).items()}
    open_store(empty_url).close()
    with closing(Database(empty_url)) as database:
        after = rows_of(database)
        added = {table: {row.pop(column) for row in after[table].values()} for table, column in ADDED.items()}
        assert added == {"submission": {False}, "upload": {False}, "game_seat": {None}, "ladder": {None}}
        assert [after.pop(table) for table in ADDED_TABLES] == [{}, {}, {}]
        assert before["ladder"][1,].pop("cards_from") == 1
        assert after == before
        with database.write() as connection:  # a language that only later versions know
            connection.execute(text("UPDATE submission SET kind = 'rust'"))
        with pytest.raises(IntegrityError), database.write() as connection:
            connection.execute(text("DELETE FROM submission"))
