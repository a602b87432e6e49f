"""Tests of an arena after a billion games: its numbers are stored, backed up and restored exactly."""

from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import Column, Double, Integer, select
from sqlalchemy.types import TypeDecorator

from arena.db import dump
from arena.db.audit import NewAuditEntry
from arena.db.database import Database
from arena.db.schema import Base
from arena.db.schema_revision import NEWEST_REVISION
from arena.db.store import Store
from arena.ladder.card_counts import POINT, merged
from arena.ladder.rating import Times
from tests.databases import sqlite_store
from tests.db.builders import START, add_bot, finished, next_claim
from tests.db.every_table import fill_every_table, held
from tests.images.builders import keep
from tests.ops.backup.places import Spot, Spots, everything

GAMES = 10**9
SEATS = 5 * GAMES
DECISIONS = 27 * SEATS
BYTES = 2**40
"""Size of a file: larger than any upload may be."""

LARGEST: dict[str, float] = {
    "account.bots": GAMES,
    "account.challenges_a_day": GAMES,
    "account.submissions_a_day": GAMES,
    "bot.revision": 3 * GAMES,
    "bot_version.size": BYTES,
    "card_count.cards": 2 * DECISIONS,
    "card_count.passed_squares": 27**2 * SEATS,
    "card_count.point_parts": POINT - 1,
    "card_count.points": 100 * SEATS,
    "card_count.seen": DECISIONS,
    "card_count.taken": DECISIONS,
    "card_count.taken_squares": 27**2 * SEATS,
    "card_count.won_passed": 60 * DECISIONS,
    "card_count.won_taken": 60 * DECISIONS,
    "card_games.decisions": DECISIONS,
    "card_games.games": GAMES,
    "card_games.seats": SEATS,
    "card_games.won": 60 * DECISIONS,
    "game_seat.faults": GAMES,
    "game_seat.median_micros": 86_400 * 10**6,
    "held_rank.lost": GAMES,
    "held_rank.rank": GAMES,
    "highlight.value": 1e9,
    "ladder.revision": 3 * GAMES,
    "live_game.attempt": GAMES,
    "match.attempt": GAMES,
    "match.leased_until": 1e12,
    "match.losses": GAMES,
    "match.voids": GAMES,
    "meeting.ahead": 10 * GAMES,
    "meeting.behind": 10 * GAMES,
    "meeting.games": 10 * GAMES,
    "meeting.tied": 10 * GAMES,
    "rating.deviation": 25 / 3,
    "rating.faulty": GAMES,
    "rating.games": GAMES,
    "rating.mean": 1e9,
    "rating.place_sum": SEATS,
    "rating.skill_deviation": 5.0,
    "rating.skill_mean": 1e9,
    "rating.sound_deviation": 5.0,
    "rating.sound_mean": 1e9,
    "rating.wins": GAMES,
    "rating_change.deviation_after": 25 / 3,
    "rating_change.deviation_before": 25 / 3,
    "rating_change.mean_after": 1e9,
    "rating_change.mean_before": -1e9,
    "rating_point.deviation": 25 / 3,
    "rating_point.mean": 1e9,
    "submission.size": BYTES,
    "subscription.failures": GAMES,
    "worker.leased_until": 1e12,
}
"""Largest values that columns may reach."""

NUMBERED = {
    "account.id",
    "api_token.id",
    "audit.number",
    "bot.id",
    "bot.newest",
    "bot.playing",
    "bot_version.id",
    "bot_version.number",
    "challenge.number",
    "invitation.id",
    "match.number",
    "notice.number",
    "rating_point.games",
    "person_game.number",
    "session.id",
    "submission.number",
    "subscription.id",
}
"""Columns of ids and other numbers that differ from row to row. They are increased by a constant."""

OF_THE_LOG = {"game.number", "ladder.events", "ladder.games", "rating_event.number"}
"""Columns numbered without gaps, up to their number of rows. New results continue the numbers."""

BOUNDED = {
    *(f"{table}.players" for table in ("card_count", "card_games", "game", "match")),
    *(f"{table}.players" for table in ("rating", "rating_change", "rating_point")),
    *(f"{table}.seat" for table in ("game_seat", "highlight", "match_seat")),
    *(f"{table}.position" for table in ("game", "unrated_game")),
    *("card_count.card", "card_count.turn", "game_seat.place", "game_seat.points", "game_seat.puddings"),
    "game_seat.after_two",
    *(
        "ladder.deals",
        "match.deals",
        "challenge.deals",
        "live_game.game",
        "live_game.rounds",
        "highlight.other",
    ),
    *(f"ladder.{part}_millis" for part in ("start", "move", "bank")),
    *(f"ladder.{limit}" for limit in ("cpus", "memory_mib", "pids", "tmp_mib")),
    *("highlight.day", "ladder.id", "match.precedence", "worker.busy", "worker.seats", "worker.usable"),
    "attempt.number",
    "analysis.playouts",
    "analysis.version",
    "person_game.seat",
    *(f"puzzle.{part}" for part in ("merit", "round", "seat", "turn")),
    *(f"costly_decision.{part}" for part in ("lost_chance", "lost_points", "round", "seat", "turn")),
}
"""Columns that don't grow: their values are bounded by a game, a match, a host, a window or the calendar."""


def numeric(column: Column[Any]) -> bool:
    """Return whether a column has numbers that aren't references to another table."""
    kind = column.type.impl_instance if isinstance(column.type, TypeDecorator) else column.type
    return isinstance(kind, (Integer, Double)) and not column.foreign_keys


def test_every_numeric_column_is_listed() -> None:
    """Each numeric column is in exactly one of the lists above."""
    columns = {
        str(column) for table in Base.metadata.sorted_tables for column in table.columns if numeric(column)
    }
    lists = (LARGEST.keys(), NUMBERED, OF_THE_LOG, BOUNDED)
    assert set().union(*lists) == columns
    assert sum(map(len, lists)) == len(columns)


def grown(table: Any, row: dict[str, Any]) -> list[Any]:  # noqa: ANN401 - a table
    """Return a row's values as they would be after a billion games."""
    values: list[Any] = []
    for column in table.columns:
        origin = next((str(key.column) for key in column.foreign_keys), str(column))
        value = row[column.name]
        if value is None:
            values.append(None)
        elif str(column) in LARGEST:
            values.append(LARGEST[str(column)])
        elif str(column) == "rating.times":
            counts = msgspec.json.decode(value, type=Times)
            values.append(msgspec.json.encode([(micros, count + GAMES) for micros, count in counts]))
        else:
            values.append(value + GAMES if origin in NUMBERED else value)
    return values


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dump.TableToLoad]:
    """Return the tables of an arena that looks as if it had played a billion games."""
    file = tmp_path_factory.mktemp("young") / "arena.sqlite3"
    with closing(sqlite_store(file)) as store:
        fill_every_table(store)
    with closing(Database(f"sqlite:///{file}")) as database, database.read() as connection:
        return {
            table.name: dump.TableToLoad(
                tuple(table.columns.keys()),
                len(rows := [grown(table, row._asdict()) for row in connection.execute(select(table))]),
                lambda rows=rows: [rows],  # type: ignore[misc]
            )
            for table in Base.metadata.sorted_tables
        }


def veteran(spots: Spots, tables: dict[str, dump.TableToLoad], *, postgresql: bool) -> Spot:
    """Create an arena with these tables."""
    old = spots.make("old", postgresql=postgresql)
    old.settings.data_dir.mkdir()
    entry = NewAuditEntry(at=START, who="terminal:root", what="test")
    dump.load(old.settings.url, NEWEST_REVISION, tables, entry)
    return old


def rows_of(spot: Spot) -> dict[str, dict[tuple[Any, ...], Any]]:
    """Return all rows of an arena's database except those of the audit log."""
    with closing(Database(spot.settings.url)) as database, database.read() as connection:
        return {name: rows for name, rows in _in_utc(held(connection)).items() if name != "audit"}


def _in_utc(tables: Any) -> dict[str, Any]:  # noqa: ANN401 - rows of any table
    """Return rows with times in a form common to both kinds of database."""
    return {
        name: {
            key: {
                column: value.replace(tzinfo=None) if hasattr(value, "tzinfo") else value
                for column, value in row.items()
            }
            for key, row in rows.items()
        }
        for name, rows in tables.items()
    }


@pytest.mark.postgresql
@pytest.mark.parametrize("of", ["sqlite", "postgresql"])
def test_large_numbers_survive_a_change_of_database(
    spots: Spots, tables: dict[str, dump.TableToLoad], tmp_path: Path, of: str
) -> None:
    """Every number survives a backup and a restore. Later games' results are added exactly."""
    old = veteran(spots, tables, postgresql=of == "postgresql")
    there = spots.make("there", postgresql=of == "sqlite")
    with old.store() as store:
        add_bot(store, "stored", source=keep(old.images, b"bot").id)
    old.back_up(tmp_path / "kept.zip")
    there.restore(tmp_path / "kept.zip")
    assert rows_of(there) == rows_of(old)
    with old.store() as one, there.store() as other:
        assert everything(other) == everything(one)
        assert played_on(other) == played_on(one) > 0


def played_on(store: Store) -> int:
    """Play all waiting matches, check the sums, and return the number of games."""
    tally = store.cards.find()
    while claim := next_claim(store):
        result = finished(claim, [range(1, len(claim.seats) + 1)] * len(claim.spec.seeds))
        assert store.results.record(result)
        if store.games.find(result.games[0].id) is not None:  # rated
            tally = merged([tally, *(game.cards for game in result.games)])
    assert store.cards.find() == tally
    return store.activity.totals().games
