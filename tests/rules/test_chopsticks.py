"""Section "Chopsticks"."""

import pytest

from arena.rules import IllegalMove, Rules, apply, legal_moves

from .helpers import cards, move, position

TWO = Rules(players=2)


def test_two_cards_are_placed_and_the_chopsticks_go_into_the_passed_hand() -> None:
    """The hand still shrinks by one: two cards leave it, the chopsticks come in before the pass."""
    state = position(TWO, ["tp sa du m1", "pu pu pu pu"], ["ch wa", ""])
    state = apply(state, [move("sa tp"), move("pu")])
    assert state.tables == (cards("wa sa tp"), cards("pu"))
    assert state.hands == (cards("pu pu pu"), cards("du m1 ch"))


def test_two_cards_without_chopsticks_are_refused() -> None:
    """The error names the rule."""
    state = position(TWO, ["tp sa du", "pu pu pu"])
    with pytest.raises(IllegalMove, match="without chopsticks from an earlier turn") as error:
        apply(state, [move("tp sa"), move("pu")])
    assert (error.value.rule, error.value.seat) == ("Chopsticks", 0)


def test_chopsticks_taken_this_turn_cannot_be_used_this_turn() -> None:
    """Chopsticks in the hand are no chopsticks on the table."""
    state = position(TWO, ["ch sa du", "pu pu pu"])
    with pytest.raises(IllegalMove, match="earlier turn"):
        apply(state, [move("ch sa"), move("pu")])


def test_one_pair_is_used_a_turn() -> None:
    """With two chopsticks on the table one goes back, one stays for a later turn."""
    state = position(TWO, ["tp sa du m1", "pu pu pu pu"], ["ch ch", ""])
    state = apply(state, [move("tp sa"), move("pu")])
    assert state.tables[0] == cards("ch tp sa")
    state = apply(state, [move("pu pu"), move("ch")])
    assert state.tables[0] == cards("tp sa pu pu")


def test_using_chopsticks_is_never_required() -> None:
    """One card is legal although chopsticks lie there."""
    state = position(TWO, ["tp sa du", "pu pu pu"], ["ch", ""])
    state = apply(state, [move("tp"), move("pu")])
    assert state.tables[0] == cards("ch tp")


@pytest.mark.parametrize("second", ["ch", "wa", "pu"])
def test_any_card_can_be_taken_second(second: str) -> None:
    """Another chopsticks, a wasabi or a pudding can be the second card."""
    state = position(TWO, ["tp ch wa pu", "pu pu pu pu"], ["ch", ""])
    state = apply(state, [move(f"tp {second}"), move("pu")])
    assert state.tables[0] == cards(f"tp {second}")


def test_chopsticks_taken_with_chopsticks_stay() -> None:
    """The pair that goes back is the one from before; the new one lies on the table."""
    state = position(TWO, ["tp ch sa", "pu pu pu"], ["sa ch", ""])
    state = apply(state, [move("ch tp"), move("pu")])
    assert state.tables[0] == cards("sa ch tp")
    assert state.hands[1] == cards("sa ch")


def test_the_last_two_cards_can_both_be_taken() -> None:
    """With two cards in hand both are taken, and the chopsticks become the neighbour's last card."""
    state = position(TWO, ["tp tp", "sa sa"], ["ch", ""])
    state = apply(state, [move("tp tp"), move("sa")])
    assert state.turns[-1].plays == (cards("sa"), cards("ch"))
    assert [score.tempura for score in state.rounds[0]] == [5, 0]


def test_two_of_a_kind_need_two_in_the_hand() -> None:
    """A kind can't be named twice where the hand holds one of it."""
    state = position(TWO, ["tp sa du", "pu pu pu"], ["ch", ""])
    with pytest.raises(IllegalMove, match="2 tempura named") as error:
        apply(state, [move("tp tp"), move("pu")])
    assert error.value.rule == "Course of a game"


def test_legal_choices_name_pairs_in_both_orders_once() -> None:
    """Pairs come in every order, and a kind held twice also with itself."""
    moves = legal_moves(cards("tp tp wa"), cards("ch"), control=False)
    assert sorted(moves) == sorted([move("tp"), move("wa"), move("tp tp"), move("tp wa"), move("wa tp")])
