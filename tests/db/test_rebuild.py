"""Tests of ratings, curves and meetings: updated with each match, and rebuilt from the log."""

import random
from contextlib import closing
from typing import Any

import pytest
from sqlalchemy import select

from arena.db import ladder
from arena.db.database import Database
from arena.db.schema import HighlightRow, MeetingRow, RatingChangeRow, RatingPointRow, RatingRow
from arena.db.store import Store
from arena.ladder.rating_events import LISTS, stride
from tests.db.builders import (
    ENTRY,
    START,
    add_bot,
    add_matches,
    finished,
    next_claim,
    outcomes,
    record,
    run_sql,
)
from tests.kinds import on_both
from tests.soak import many


def live(store: Store, seed: int, steps: int) -> None:
    """Add bots and versions, and record matches, at random."""
    dice = random.Random(seed)  # noqa: S311 - a test's dice
    current = {name: add_bot(store, name) for name in "abcdef"}
    for step in range(steps):
        if dice.random() < 0.3:
            name = dice.choice("abcdef")
            current[name] = add_bot(store, name, source=f"sha256:{step}")
            continue
        versions = dice.sample(list(current.values()), dice.randint(2, 5))
        add_matches(store, f"s{step}", versions)
        while claim := next_claim(store):
            faults = [dice.choice((0, 0, 0, 1, 3)) for _ in versions]
            places = outcomes(dice, len(versions), dice.randint(0, 2))
            assert store.results.record(finished(claim, places, minute=step, faults=faults))


def test_a_rebuild_reads_a_long_log_in_batches(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log longer than one batch gives the same ratings."""
    monkeypatch.setattr(ladder, "_BATCH", 50)
    versions = [add_bot(store, name) for name in ("a", "b")]
    add_matches(store, "s", versions, deals=51)
    dice = random.Random(1)  # noqa: S311 - a test's dice
    while claim := next_claim(store):
        assert store.results.record(finished(claim, outcomes(dice, 2, 51)))
    rebuilt = store.ladder.rebuild()
    assert (rebuilt.events, rebuilt.differing) == (104, 0)


def kept(url: str) -> dict[str, list[Any]]:
    """Return the rows of all tables that are derived from the log."""
    models = (RatingRow, RatingChangeRow, RatingPointRow, MeetingRow, HighlightRow)
    with closing(Database(url)) as database, database.read() as connection:
        return {
            model.__tablename__: list(
                connection.execute(select(model.__table__).order_by(*model.__table__.primary_key))
            )
            for model in models
        }


@on_both
def test_a_rebuild_repairs_differences(store: Store, url: str) -> None:
    """Changed, missing and wrong rows are restored from the log, and counted."""
    live(store, 9, steps=8)
    before = kept(url)
    changed = run_sql(
        url,
        "UPDATE rating SET mean = mean + 1 WHERE version_id = 1 AND players = 0",
        "DELETE FROM rating WHERE version_id = 2 AND players = 3",
        "INSERT INTO rating VALUES (1, 9, 25, 8, 0, 0, 0, 0, NULL, '[]', '[]', 25, 5, 25, 5)",
        "UPDATE rating_change SET deviation_after = 1 WHERE event_number = 1 AND players = 0",
        "DELETE FROM rating_change WHERE event_number = 2 AND players = 2",
        "UPDATE meeting SET tied = tied + 1 WHERE bot_id = 1",
        "DELETE FROM meeting WHERE bot_id = 2",
        "UPDATE rating_point SET mean = mean + 1 WHERE version_id = 1 AND players = 0",
        "INSERT INTO rating_point VALUES (2, 9, 7, NULL, 25, 8)",
        "DELETE FROM highlight WHERE game_number = (SELECT min(game_number) FROM highlight)",
        "UPDATE highlight SET value = 99",
    )
    assert all(changed)
    assert store.ladder.rebuild().differing == sum(changed)
    assert store.ladder.rebuild().differing == 0
    assert kept(url) == before


def test_a_store_without_events_is_rebuilt_to_nothing(store: Store) -> None:
    """An empty log gives no ratings."""
    assert store.ladder.rebuild().events == 0


@pytest.mark.parametrize("seed", range(many(1, 4)))
def test_what_follows_from_the_log_equals_a_rebuild(store: Store, url: str, seed: int) -> None:
    """Even after new versions, faults and a disqualification, a rebuild is identical to the last bit."""
    live(store, seed, steps=12)
    before = kept(url)
    assert all(before.values())
    rebuilt = store.ladder.rebuild()
    assert rebuilt.differing == 0
    assert rebuilt.events > store.activity.totals().games
    store.bot_states.disqualify("a", "why", START, ENTRY)
    without = kept(url)
    assert without != before
    assert store.ladder.rebuild().differing == 0
    store.bot_states.reinstate("a", START, ENTRY)
    assert kept(url) == before


def test_curves_stay_short(store: Store, url: str) -> None:
    """A long curve has a point for every n-th game, and one before the first game."""
    record(store, [add_bot(store, name) for name in "ab"], outcomes(random.Random(3), 2, 300))  # noqa: S311 - a test's dice
    rows = kept(url)
    points, meetings = rows["rating_point"], rows["meeting"]
    assert stride(300) == 4
    for version in (1, 2):
        for players in LISTS:
            games = [row.games for row in points if (row.version_id, row.players) == (version, players)]
            assert games == (list(range(0, 301, 4)) if players in {0, 2} else [0])
    assert [row.games for row in meetings] == [300, 300]
    assert all(row.ended is None if row.games == 0 else row.ended > START for row in points)
    assert store.ladder.rebuild().differing == 0


def test_meetings_count_games(store: Store, url: str) -> None:
    """Each bot of a pair has a row for the other, which counts games and results of all versions."""
    bots = {add_bot(store, "a"): "a", add_bot(store, "b"): "b"}
    one, other = bots
    record(store, (one, other), [(1, 2), (1, 1)], id_="s1")
    newer, third = add_bot(store, "a", source="sha256:2"), add_bot(store, "c")
    record(store, (third, newer, other), [(1, 2, 3)] * 2, id_="s2")
    rows = [tuple(row) for row in kept(url)["meeting"]]
    assert rows == [
        (1, 2, 4, 3, 0, 1),
        (1, 3, 2, 0, 2, 0),
        (2, 1, 4, 0, 3, 1),
        (2, 3, 2, 0, 2, 0),
        (3, 1, 2, 2, 0, 0),
        (3, 2, 2, 2, 0, 0),
    ]
