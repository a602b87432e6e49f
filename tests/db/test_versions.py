"""Tests of bots and their versions."""

import math

import pytest
from sqlalchemy.exc import StatementError

from arena.db.bots import NewVersion
from arena.db.errors import BotTaken
from arena.db.store import Store
from arena.ladder.rating import Rating
from tests.db.builders import START, add_bot, claimed, finished, record


def test_a_new_bot_is_on_the_leaderboard(store: Store) -> None:
    """In every list, a new bot has the initial rating and no games."""
    add_bot(store, "greedy", author="house")
    for players in (0, 2, 3, 4, 5):
        (line,) = store.ratings.standings(players)
        assert (line.bot, line.version, line.author, line.rank) == ("greedy", 1, "house", 1)
        assert (line.entry.rating, line.entry.games) == (Rating(25, 25 / 3), 0)


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


def test_a_name_belongs_to_its_author(store: Store) -> None:
    """Another author's bot of the same name is refused, and nothing changes."""
    add_bot(store, "greedy", author="ann")
    with pytest.raises(BotTaken, match="belongs to a bot by ann"):
        add_bot(store, "greedy", author="ben", source="sha256:2")
    assert [(line.author, line.version) for line in store.ratings.standings()] == [("ann", 1)]


def test_a_time_needs_a_time_zone(store: Store) -> None:
    """A naive time is refused, and the bot isn't added."""
    naive = NewVersion(bot="b", author="a", house=False, source="s", created=START.replace(tzinfo=None))
    with pytest.raises(StatementError, match="no time zone"):
        store.bots.add_version(naive)
    assert store.activity.totals().bots == 0


def test_a_bot_is_found_by_its_name(store: Store) -> None:
    """The result has the author and the number of the newest version."""
    assert store.bots.find("mine") is None
    for source in ("sha256:1", "sha256:2"):
        add_bot(store, "mine", source=source)
    add_bot(store, "greedy", author="house")
    bots = [store.bots.find(name) for name in ("mine", "greedy")]
    found = [(bot.name, bot.author, bot.house, bot.newest) for bot in bots if bot is not None]
    assert found == [("mine", "ann", False, 2), ("greedy", "house", True, 1)]


def test_sources_of_versions_that_play_are_in_use(store: Store) -> None:
    """Sources in use are those of every bot's newest version, and of older versions in open matches."""
    assert store.bots.sources_in_use() == frozenset()
    old = [add_bot(store, bot, source=f"sha256:{bot}1") for bot in ("a", "b")]
    claim = claimed(store, old)
    for bot in ("a", "b"):
        add_bot(store, bot, source=f"sha256:{bot}2")
    assert store.bots.sources_in_use() == {"sha256:a1", "sha256:b1", "sha256:a2", "sha256:b2"}
    assert store.results.record(finished(claim, [(1, 2)] * 2))
    assert store.bots.sources_in_use() == {"sha256:a2", "sha256:b2"}


def test_a_name_that_differs_only_in_case_is_taken(store: Store) -> None:
    """Names that differ only in case are refused, so that no bot can be mistaken for another."""
    add_bot(store, "greedy", author="house")
    with pytest.raises(BotTaken, match="too similar to that of the bot greedy"):
        add_bot(store, "Greedy", author="ann")
    add_bot(store, "mine", author="ann")
    with pytest.raises(BotTaken, match="from that of the bot mine only in case"):
        add_bot(store, "Mine", author="house")
    assert add_bot(store, "m1ne", author="house")  # house bots may look like others
