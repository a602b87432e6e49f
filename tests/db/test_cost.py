"""Tests that the cost of recording a match doesn't depend on the number of games, measured on SQLite."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event, text

from arena.db.activity import ActivityRepository
from arena.db.bot_states import bench_failing
from arena.db.database import Database, OpenTransaction
from arena.db.store import Store
from arena.protocol.states import BotState
from tests.db.builders import START, add_bot, claimed, finished, present, record
from tests.kinds import on_sqlite

GROWING = {"match", "match_seat", "game", "game_seat", "rating_event", "rating_change", "audit"}
"""Tables that grow with every match."""

MOST_STATEMENTS = 37


@contextmanager
def statements() -> Iterator[list[tuple[str, Any]]]:
    """Yield a list that collects the statements sent to a database, with their values."""
    sent: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, values: Any, _context: Any, many: bool) -> None:  # noqa: ANN401, FBT001 - as SQLAlchemy has it
        sent.append((statement, values[0] if many else values))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(Engine, "before_cursor_execute", note)


@on_sqlite
def test_recording_a_match_scans_no_growing_table(store: Store, database: Database) -> None:
    """A match takes few statements, which find their rows by an index, even if every bot fails."""
    versions = [add_bot(store, name, author=name) for name in "abcde"]
    for number in range(4):
        record(store, versions, [(1, 2, 3, 4, 5)], id_=f"s{number}", faults=(3,) * 5)
    claim = claimed(store, versions, deals=6)
    result = finished(claim, [(1, 2, 3, 4, 5)] * 6, faults=(3,) * 5)
    with statements() as sent:
        assert store.results.record(result)
    assert {bot.state for bot in store.bots.listed()} == {"benched"}
    asked = [each for each in sent if re.match(r"SELECT|UPDATE|INSERT|DELETE", each[0])]
    assert 0 < len(asked) <= MOST_STATEMENTS
    with database.read() as connection:
        for statement, values in asked:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
            scanned = {row.detail.split()[1] for row in plan if row.detail.startswith("SCAN")}
            assert not scanned & GROWING, statement


def effort(database: Database, ask: Callable[[Connection], object]) -> int:
    """Return how many hundred steps SQLite's virtual machine takes for a call."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    with database.write() as connection:
        raw = present(connection.connection.driver_connection)
        raw.set_progress_handler(count, 100)
        ask(connection)
        raw.set_progress_handler(None, 0)
    return steps


def grow(database: Database, begin: int = 2, end: int = 5000) -> int:
    """Copy the first game to the numbers from ``begin`` to ``end``, and return the number of games."""
    numbers = "WITH RECURSIVE n(i) AS (SELECT :begin UNION ALL SELECT i + 1 FROM n WHERE i < :end)"
    game = "i, 'g' || i, match_id, i, players, ended, replay, record"
    seat = "i, seat, version_id, points, puddings, place, faults, taken_over, median_micros, after_two"
    copies = (
        f"INSERT INTO game {numbers} SELECT {game} FROM game, n WHERE number = 1",  # noqa: S608 - ours
        f"INSERT INTO game_seat {numbers} SELECT {seat} FROM game_seat, n WHERE game_number = 1",  # noqa: S608 - ours
    )
    with database.write() as connection:
        for copy in copies:
            connection.execute(text(copy), {"begin": begin, "end": end})
        return int(connection.execute(text("SELECT count(*) FROM game")).scalar_one())


@on_sqlite
@pytest.mark.parametrize("came_back", [False, True])
def test_failures_cost_the_same_after_any_number_of_games(
    store: Store, database: Database, *, came_back: bool
) -> None:
    """Only a bot's last 240 games are read, even if none of them was played since its return."""
    mine, other = (add_bot(store, name) for name in ("mine", "other"))
    record(store, (mine, other), [(1, 2)])
    if came_back:
        store.bot_states.retire("mine", START.replace(year=2027))
        store.bot_states.reactivate("mine", START.replace(year=2027))

    def fail(connection: Connection) -> None:
        bench_failing(connection, [(mine, "it was gone")], START)

    assert grow(database, end=300) == 300
    before = effort(database, fail)
    assert grow(database, 301) == 5000
    assert effort(database, fail) <= before + 10
    assert present(store.bots.find("mine")).state is BotState.ACTIVE


@on_sqlite
def test_the_workload_costs_the_same_after_any_number_of_games(store: Store, database: Database) -> None:
    """The hourly workload is found without counting the games of each hour one by one."""
    versions = [add_bot(store, name) for name in ("mine", "other")]
    record(store, versions, [(1, 2)])

    def workload(connection: Connection) -> None:
        ActivityRepository(OpenTransaction(connection)).workload(START)

    before = effort(database, workload)
    assert grow(database) == 5000
    with database.write() as connection:
        connection.execute(text("UPDATE ladder SET games = 5000"))
    assert effort(database, workload) <= before + 10
    assert store.activity.workload(START).hours[-1].games == 5000
