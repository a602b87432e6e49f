"""Tests of bots and their versions."""

import math

import pytest
from sqlalchemy.exc import StatementError

from arena.db.bots import NewVersion
from arena.db.errors import BotTaken
from arena.db.store import Store
from arena.ladder.rating import Rating
from tests.db.builders import START, add_bot, record


def test_the_same_source_is_the_same_version(store: Store) -> None:
    """Adding the newest version again changes nothing. An older source makes a new version."""
    first, second, again, back = (add_bot(store, "greedy", source=f"sha256:{each}") for each in "1221")
    assert again == second
    assert len({first, second, back}) == 3
    assert store.ratings.standings()[0].version == 3


def test_a_new_version_carries_on_with_less_certainty(store: Store) -> None:
    """A new version has the old one's mean with a larger deviation, and replaces it on the leaderboard."""
    versions = [add_bot(store, "greedy"), add_bot(store, "random")]
    record(store, versions, [(1, 2)] * 80)
    old = {players: store.ratings.standings(players)[0].entry.rating for players in (0, 2)}
    add_bot(store, "greedy", source="sha256:new")
    for players, before in old.items():
        (after,) = (line for line in store.ratings.standings(players) if line.bot == "greedy")
        assert (after.version, after.entry.games) == (2, 0)
        assert after.entry.rating == Rating(before.mean, math.hypot(before.deviation, 1))
        assert after.entry.rating.deviation < 25 / 3
    assert store.ladder.rebuild().differing == 0


def test_a_time_needs_a_time_zone(store: Store) -> None:
    """A naive time is refused, and the bot isn't added."""
    naive = NewVersion(bot="b", author="a", house=False, source="s", created=START.replace(tzinfo=None))
    with pytest.raises(StatementError, match="no time zone"):
        store.bots.add_version(naive)
    assert store.activity.totals().bots == 0


def test_a_name_that_differs_only_in_case_is_taken(store: Store) -> None:
    """Names that differ only in case are refused, so that no bot can be mistaken for another."""
    add_bot(store, "greedy", author="house")
    with pytest.raises(BotTaken, match="too similar to that of the bot greedy"):
        add_bot(store, "Greedy", author="ann")
    add_bot(store, "mine", author="ann")
    with pytest.raises(BotTaken, match="from that of the bot mine only in case"):
        add_bot(store, "Mine", author="house")
    assert add_bot(store, "m1ne", author="house")  # house bots may look like others
