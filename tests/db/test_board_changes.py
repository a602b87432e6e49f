"""Tests of the changes in a leaderboard since a reader's previous read."""

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Final

import pytest

from arena.db.store import Store
from arena.ladder.standings import BoardLine, standings
from tests.db.builders import ENTRY, START, add_account, add_bot, claimed, finished, outcomes, record
from tests.soak import many

NOW: Final = START + timedelta(days=1)
LISTS: Final = (0, 2, 3, 4, 5)


class Reader:
    """Reads a leaderboard by its changes only."""

    def __init__(self, store: Store, players: int) -> None:
        self._store = store
        self._players = players
        self._seen = 0
        self.lines: dict[int, BoardLine] = {}

    def look(self) -> set[str]:
        """Read the changes, and return the names of the bots that changed."""
        found = self._store.ratings.changes(self._players, self._seen)
        names = {line.bot for line in found.lines.values() if line}
        names |= {
            self.lines[bot].bot for bot, line in found.lines.items() if line is None and bot in self.lines
        }
        self.lines |= {bot: line for bot, line in found.lines.items() if line}
        for bot in [bot for bot, line in found.lines.items() if line is None]:
            self.lines.pop(bot, None)
        self._seen = found.revision
        return names

    def check(self) -> None:
        """Compare the lines collected from changes with the whole leaderboard."""
        assert standings(self.lines.values()) == self._store.ratings.standings(self._players)


def play(store: Store, names: dict[str, int], *bots: str, id_: str) -> None:
    """Record a match of two games."""
    record(store, [names[bot] for bot in bots], [tuple(range(1, len(bots) + 1))] * 2, id_=id_)


def test_only_bots_that_played_are_read_again(store: Store) -> None:
    """After a match, all lists return its bots' lines, even lists for other table sizes."""
    names = {bot: add_bot(store, bot) for bot in "abcd"}
    readers = [Reader(store, players) for players in LISTS]
    assert all(reader.look() == set("abcd") for reader in readers)
    play(store, names, "a", "c", id_="s")
    for reader in readers:
        assert reader.look() == {"a", "c"}
        assert reader.look() == set()
        reader.check()


def test_the_number_of_games_is_returned(store: Store) -> None:
    """The number of games is returned even if no line has changed."""
    names = {bot: add_bot(store, bot) for bot in "ab"}
    play(store, names, "a", "b", id_="s")
    found = store.ratings.changes(0, 0)
    assert found.games == 2
    assert store.ratings.changes(0, found.revision).games == 2


@pytest.mark.parametrize(
    ("change", "who"),
    [
        (lambda store: store.bot_states.bench("a", "why", NOW, ENTRY), {"a"}),
        (lambda store: store.bot_states.retire("a", NOW), {"a"}),
        (lambda store: store.bot_states.play_version("a", 1, NOW), {"a"}),
        (lambda store: add_bot(store, "a", source="sha256:3"), {"a"}),
        (lambda store: add_bot(store, "new"), {"new"}),
        (lambda store: store.bot_states.disqualify("a", "why", NOW, ENTRY), {"a", "b", "c"}),
        (lambda store: store.ladder.rebuild(), set()),
    ],
)
def test_every_visible_change_is_read(store: Store, change: Callable[[Store], object], who: set[str]) -> None:
    """Changes of states, versions, bots and ratings are read, but not a rebuild without effect."""
    names = {bot: add_bot(store, bot) for bot in "abc"}
    names["a"] = add_bot(store, "a", source="sha256:2")
    play(store, names, "a", "b", "c", id_="s")
    readers = [Reader(store, players) for players in (0, 3)]
    for reader in readers:
        reader.look()
    change(store)
    for reader in readers:
        assert reader.look() == who
        reader.check()


def test_a_new_name_is_read(store: Store) -> None:
    """A deleted account's name immediately disappears from the leaderboard."""
    ann = add_account(store, "ann")
    add_bot(store, "a", author="ann")
    add_bot(store, "b", author="ben")
    reader = Reader(store, 0)
    reader.look()
    store.accounts.delete(ann.id, "former-1", NOW)
    assert reader.look() == {"a"}
    reader.check()


def test_a_failing_bot_is_read_as_benched(store: Store) -> None:
    """Its benching is read even if a disqualified bot at the table keeps the game from counting."""
    names = {bot: add_bot(store, bot, author=bot) for bot in ("fails", "cheat")}
    for number in range(5):
        record(store, [*names.values()], [(2, 1)], id_=f"s{number}", faults=(3, 0))
    reader = Reader(store, 0)
    reader.look()
    assert [line.benched for line in reader.lines.values() if line.bot == "fails"] == [True]
    store.bot_states.reactivate("fails", START - timedelta(days=1))
    claim = claimed(store, [*names.values()], id_="t")
    store.bot_states.disqualify("cheat", "why", START - timedelta(days=1), ENTRY)
    reader.look()
    assert store.results.record(finished(claim, [(2, 1)] * 2, faults=(3, 0)))
    assert reader.look() == {"fails"}
    reader.check()


@pytest.mark.parametrize("seed", range(many(1, 3)))
def test_changes_add_up_to_the_leaderboard(store: Store, seed: int) -> None:
    """All changes together give the whole leaderboard, however rarely a reader reads them."""
    dice = random.Random(seed)  # noqa: S311 - a test's dice
    names = {bot: add_bot(store, bot) for bot in "abcdef"}
    readers = [Reader(store, players) for players in LISTS]
    for step in range(25):
        bot = dice.choice("abcdef")
        match dice.randrange(6):
            case 0:
                names[bot] = add_bot(store, bot, source=f"sha256:{step}")
            case 1:
                store.bot_states.retire(bot, NOW)
            case 2:
                store.bot_states.reactivate(bot, NOW)
            case _:
                seats = [names[each] for each in dice.sample("abcdef", dice.randint(2, 5))]
                record(store, seats, outcomes(dice, len(seats), 2), id_=f"s{step}", minute=step)
        reader = dice.choice(readers)
        reader.look()
        reader.check()
