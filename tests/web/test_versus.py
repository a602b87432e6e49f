"""The leaders against each other."""

from arena.rules import Rules
from tests.accounts.world import World
from tests.builders import add_bots, play_set
from tests.db.builders import claimed, finished
from tests.web.html import Page
from tests.web.people import browser


def test_shares_are_of_the_games_of_both(world: World) -> None:
    """Level finishes count half; both directions add up to 100; pairs that never met have a dash."""
    versions = add_bots(
        world.store, [("strong-1", "ann"), ("weak-1", "ben"), ("other-1", "cyd"), ("new", "dee")]
    )
    claim = claimed(world.store, versions[:2], deals=4)
    assert world.store.results.record(finished(claim, [(1, 2), (1, 2), (2, 1), (1, 1)]))
    play_set(world.store, [versions[1:3]], Rules(players=2), name="two")
    table = Page(browser(world).get("/leaderboard/versus").text).tables[0]
    heads = [row[0].split()[1].partition("@")[0] for row in table[1:]]
    assert sorted(heads) == ["other-1", "strong-1", "weak-1"]  # new has not played
    cell = {(a, b): table[1 + i][1 + j] for i, a in enumerate(heads) for j, b in enumerate(heads)}
    assert (cell["strong-1", "weak-1"], cell["weak-1", "strong-1"]) == ("62", "38")
    assert (cell["strong-1", "other-1"], cell["other-1", "strong-1"]) == ("\N{EN DASH}", "\N{EN DASH}")
    assert {cell[name, name] for name in heads} == {"itself"}


def test_an_empty_arena_says_so(world: World) -> None:
    """Without a table."""
    add_bots(world.store, [("alone", "ann")])
    answer = browser(world).get("/leaderboard/versus")
    assert "No two bots have met yet" in answer.text
    assert "<table" not in answer.text
