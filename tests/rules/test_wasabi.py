"""Section "Wasabi"."""

import pytest

from arena.rules import Rules, apply, score_nigiri

from .helpers import cards, move, position


@pytest.mark.parametrize(
    ("table", "points"),
    [
        ("", 0),
        ("egg", 1),
        ("sal", 2),
        ("squ", 3),
        ("wa egg", 3),
        ("wa sal", 6),
        ("wa squ", 9),
        ("squ wa", 3),
        ("wa", 0),
        ("wa wa", 0),
        ("wa sal sal", 8),
        ("wa wa sal egg", 9),
        ("wa sal wa squ", 15),
        ("egg wa squ", 10),
        ("wa tp pu ch squ", 9),
        ("wa egg squ", 6),
        ("sal wa wa squ", 11),
    ],
)
def test_a_nigiri_takes_a_free_wasabi_placed_before_it(table: str, points: int) -> None:
    """Each wasabi triples only the next nigiri after it."""
    assert score_nigiri(cards(table)) == points


@pytest.mark.parametrize(
    ("named", "points"), [("wa squ", 9), ("squ wa", 3)], ids=["wasabi first", "nigiri first"]
)
def test_with_chopsticks_the_order_of_the_cards_decides(named: str, points: int) -> None:
    """A wasabi triples a nigiri that is named after it, but not one named before it."""
    state = position(Rules(players=2), ["wa squ m1", "tp tp tp"], ["ch", ""])
    state = apply(state, [move(named), move("tp")])
    state = apply(state, [move("tp"), move("m1")])
    assert state.rounds[0][0].nigiri == points


@pytest.mark.parametrize(("named", "points"), [("squ egg", 10), ("egg squ", 6)])
def test_the_first_named_of_two_nigiri_takes_the_only_wasabi(named: str, points: int) -> None:
    """If two nigiri are placed in one turn and one wasabi is free, the one named first is tripled."""
    state = position(Rules(players=2), ["squ egg m1", "tp tp tp"], ["wa ch", ""])
    state = apply(state, [move(named), move("tp")])
    state = apply(state, [move("tp"), move("m1")])
    assert state.rounds[0][0].nigiri == points
