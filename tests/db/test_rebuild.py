"""Ratings anew from the log."""

import random

import pytest

from arena.db import ladder
from arena.db.store import Store
from tests.db.builders import add_bot, add_matches, finished, next_claim, outcomes, run_sql
from tests.kinds import on_both
from tests.soak import many


def live(store: Store, seed: int, steps: int) -> None:
    """Let bots come, go on to new versions and play, at random."""
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


@pytest.mark.parametrize("seed", range(many(2, 4)))
def test_a_rebuild_finds_every_float_as_it_is(store: Store, seed: int) -> None:
    """Whatever happened, the kept ratings and changes are exactly what the log gives."""
    live(store, seed, steps=12)
    rebuilt = store.ladder.rebuild()
    assert rebuilt.differing == 0
    assert rebuilt.events > store.activity.totals().games


def test_a_rebuild_goes_through_a_long_log(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs longer than what is read at once come out the same."""
    monkeypatch.setattr(ladder, "_BATCH", 50)
    versions = [add_bot(store, name) for name in ("a", "b")]
    add_matches(store, "s", versions, deals=51)
    dice = random.Random(1)  # noqa: S311 - a test's dice
    while claim := next_claim(store):
        assert store.results.record(finished(claim, outcomes(dice, 2, 51)))
    rebuilt = store.ladder.rebuild()
    assert (rebuilt.events, rebuilt.differing) == (104, 0)


@on_both
def test_a_rebuild_repairs_what_differs(store: Store, url: str) -> None:
    """Altered, lost and invented rows become what the log says again, and are counted."""
    live(store, 9, steps=8)
    boards = [store.ratings.standings(players) for players in (0, 2, 3, 4, 5)]
    games = [store.games.find(game.game) for game in store.games.newest(None, 100)]
    changed = run_sql(
        url,
        "UPDATE rating SET mean = mean + 1 WHERE version_id = 1 AND players = 0",
        "DELETE FROM rating WHERE version_id = 2 AND players = 3",
        "INSERT INTO rating VALUES (1, 9, 25, 8, 0, 0, 0, 0, NULL, '[]', '[]', 25, 5, 25, 5)",
        "UPDATE rating_change SET deviation_after = 1 WHERE event_number = 1 AND players = 0",
        "DELETE FROM rating_change WHERE event_number = 2 AND players = 2",
    )
    assert changed == [1] * 5
    assert store.ladder.rebuild().differing == 5
    assert store.ladder.rebuild().differing == 0
    assert [store.ratings.standings(players) for players in (0, 2, 3, 4, 5)] == boards
    assert [store.games.find(game.game) for game in store.games.newest(None, 100)] == games


def test_a_store_without_events_is_rebuilt_to_nothing(store: Store) -> None:
    """An empty log gives no rating."""
    assert store.ladder.rebuild().events == 0
