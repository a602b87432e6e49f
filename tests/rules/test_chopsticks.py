"""Section "Chopsticks"."""

import pytest

from arena.rules import IllegalMove, Rules, apply, legal_moves

from .helpers import cards, move, position

TWO = Rules(players=2)


def test_two_cards_are_placed_and_the_chopsticks_go_into_the_passed_hand() -> None:
    """A hand still shrinks by one: two cards leave it, and the chopsticks enter it before the pass."""
    state = position(TWO, ["tp sa du m1", "pu pu pu pu"], ["ch wa", ""])
    state = apply(state, [move("sa tp"), move("pu")])
    assert state.tables == (cards("wa sa tp"), cards("pu"))
    assert state.hands == (cards("pu pu pu"), cards("du m1 ch"))


def test_two_cards_without_chopsticks_are_refused() -> None:
    """Playing two cards without chopsticks raises an error that names the rule."""
    state = position(TWO, ["tp sa du", "pu pu pu"])
    with pytest.raises(IllegalMove, match="without chopsticks from an earlier turn") as error:
        apply(state, [move("tp sa"), move("pu")])
    assert (error.value.rule, error.value.seat) == ("Chopsticks", 0)


def test_chopsticks_taken_this_turn_cannot_be_used_this_turn() -> None:
    """Only chopsticks on the table can be used, not those in the hand."""
    state = position(TWO, ["ch sa du", "pu pu pu"])
    with pytest.raises(IllegalMove, match="earlier turn"):
        apply(state, [move("ch sa"), move("pu")])


def test_one_pair_is_used_per_turn() -> None:
    """If two chopsticks are on the table, one goes back and the other stays for a later turn."""
    state = position(TWO, ["tp sa du m1", "pu pu pu pu"], ["ch ch", ""])
    state = apply(state, [move("tp sa"), move("pu")])
    assert state.tables[0] == cards("ch tp sa")
    state = apply(state, [move("pu pu"), move("ch")])
    assert state.tables[0] == cards("tp sa pu pu")


def test_using_chopsticks_is_never_required() -> None:
    """One card is legal even if chopsticks are on the table."""
    state = position(TWO, ["tp sa du", "pu pu pu"], ["ch", ""])
    state = apply(state, [move("tp"), move("pu")])
    assert state.tables[0] == cards("ch tp")


@pytest.mark.parametrize("second", ["ch", "wa", "pu"])
def test_any_card_can_be_taken_second(second: str) -> None:
    """Other chopsticks, a wasabi or a pudding can be the second card."""
    state = position(TWO, ["tp ch wa pu", "pu pu pu pu"], ["ch", ""])
    state = apply(state, [move(f"tp {second}"), move("pu")])
    assert state.tables[0] == cards(f"tp {second}")


def test_chopsticks_taken_with_chopsticks_stay() -> None:
    """The old pair goes back, and the new one stays on the table."""
    state = position(TWO, ["tp ch sa", "pu pu pu"], ["sa ch", ""])
    state = apply(state, [move("ch tp"), move("pu")])
    assert state.tables[0] == cards("sa ch tp")
    assert state.hands[1] == cards("sa ch")


def test_the_last_two_cards_can_both_be_taken() -> None:
    """With two cards in hand, both can be taken; the chopsticks become the neighbour's last card."""
    state = position(TWO, ["tp tp", "sa sa"], ["ch", ""])
    state = apply(state, [move("tp tp"), move("sa")])
    assert state.turns[-1].plays == (cards("sa"), cards("ch"))
    assert [score.tempura for score in state.rounds[0]] == [5, 0]


def test_two_of_a_kind_need_two_in_the_hand() -> None:
    """A kind can't be named twice if the hand has only one card of it."""
    state = position(TWO, ["tp sa du", "pu pu pu"], ["ch", ""])
    with pytest.raises(IllegalMove, match="2 tempura are not in the hand") as error:
        apply(state, [move("tp tp"), move("pu")])
    assert error.value.rule == "Course of a game"


def test_legal_moves_have_each_order_of_a_pair_once() -> None:
    """A kind of which the hand has two cards is also paired with itself."""
    moves = legal_moves(cards("tp tp wa"), cards("ch"), control=False)
    assert sorted(moves) == sorted([move("tp"), move("wa"), move("tp tp"), move("tp wa"), move("wa tp")])
