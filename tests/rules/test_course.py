"""Section "Course of a game": dealing, choosing, passing, the automatic last card."""

import pytest

from arena.rules import (
    IllegalMove,
    Move,
    Rules,
    apply,
    deals,
    new_game,
    seats_to_move,
    shuffled_deck,
    unshuffled_deck,
)

from .helpers import ONE_WAY, VARIANTS, cards, move, name, position, random_game

SEED = bytes(range(16))


@pytest.mark.parametrize("rules", ONE_WAY, ids=name)
def test_the_deck_is_dealt_from_the_front_seat_by_seat(rules: Rules) -> None:
    """In each round, seat 0 gets its complete hand first, and the dummy's pile is last."""
    deck = shuffled_deck(rules, SEED)
    size = rules.hand_size
    flat = [card for hands in deals(rules, deck) for hand in hands for card in hand]
    assert flat == list(deck[: 3 * rules.participants * size])
    assert {len(hand) for hands in deals(rules, deck) for hand in hands} == {size}


@pytest.mark.parametrize("rules", ONE_WAY, ids=name)
def test_every_round_begins_with_its_own_deal(rules: Rules) -> None:
    """The hands at the start of a round have the cards that the deck assigns to it."""
    for state, _ in random_game(rules, SEED):
        if state.turn == 1 and not state.over:
            dealt = deals(rules, state.deck)[state.round - 1]
            held = [list(hand) for hand in state.hands]
            if state.controller is not None:
                assert state.drawn == dealt[-1][0]
                assert state.pile == dealt[-1][1:]
                held[state.controller].remove(dealt[-1][0])
            assert held == [sorted(hand) for hand in dealt[: rules.players]]


def test_hands_pass_to_the_left() -> None:
    """A hand goes to the next seat, and the last seat's hand goes to seat 0."""
    state = position(Rules(players=3), ["tp tp tp", "sa sa sa", "du du du"])
    state = apply(state, [move("tp"), move("sa"), move("du")])
    assert state.hands == (cards("du du"), cards("tp tp"), cards("sa sa"))
    assert state.tables == (cards("tp"), cards("sa"), cards("du"))


@pytest.mark.parametrize("rules", [rules for rules in VARIANTS if not rules.dummy], ids=name)
def test_nobody_is_asked_for_a_last_card(rules: Rules) -> None:
    """The last card of every hand is played automatically, in the same step as the previous turn."""
    for state, _ in random_game(rules, SEED):
        if state.over:
            assert seats_to_move(state) == ()
        else:
            assert seats_to_move(state) == tuple(range(rules.players))
            assert all(len(hand) >= 2 for hand in state.hands)


def test_the_last_card_goes_on_the_table_before_scoring() -> None:
    """An automatic card counts like any other: in this test it completes a pair of tempura."""
    state = position(Rules(players=2), ["tp m1", "tp m2"])
    state = apply(state, [move("m1"), move("tp")])
    assert [turn.plays for turn in state.turns] == [(cards("m1"), cards("tp")), (cards("m2"), cards("tp"))]
    assert [score.tempura for score in state.rounds[0]] == [0, 5]
    assert [score.maki for score in state.rounds[0]] == [6, 0]


@pytest.mark.parametrize("rules", ONE_WAY, ids=name)
def test_a_game_has_three_rounds_of_full_hands(rules: Rules) -> None:
    """The state lists every turn in order, including the automatic ones."""
    *_, (end, _) = random_game(rules, SEED)
    assert [(turn.round, turn.turn) for turn in end.turns] == [
        (number, turn) for number in (1, 2, 3) for turn in range(1, rules.turns + 1)
    ]
    assert len(end.rounds) == 3
    assert (end.round, end.turn) == (3, rules.turns)


def test_all_but_puddings_are_discarded_after_a_round() -> None:
    """Tables are empty in the next round. The puddings are counted."""
    state = position(Rules(players=2), ["pu tp", "pu pu"], ["pu", "wa"])
    state = apply(state, [move("pu"), move("pu")])
    assert state.round == 2
    assert state.tables == ((), ())
    assert state.puddings == (3, 1)


def test_a_card_that_is_not_in_the_hand_is_refused() -> None:
    """The error for a card that isn't in the hand names the seat, the rule and the hand."""
    state = position(Rules(players=2), ["tp sa", "du du"])
    with pytest.raises(IllegalMove, match="wasabi is not in the hand: dumpling, dumpling") as error:
        apply(state, [move("tp"), move("wa")])
    assert (error.value.seat, error.value.rule) == (1, "Course of a game")
    assert state == position(Rules(players=2), ["tp sa", "du du"])


@pytest.mark.parametrize("text", ["", "tp tp tp"])
def test_a_move_has_one_or_two_cards(text: str) -> None:
    """No card and three cards are refused even with chopsticks."""
    state = position(Rules(players=2), ["tp tp tp tp", "du du du du"], ["ch", ""])
    with pytest.raises(IllegalMove, match="one, or two with chopsticks") as error:
        apply(state, [move(text), move("du")])
    assert error.value.rule == "Course of a game"


def test_every_asked_seat_must_choose_and_nobody_else() -> None:
    """A missing move is the caller's error rather than an illegal move."""
    state = position(Rules(players=2), ["tp sa", "du du"])
    with pytest.raises(ValueError, match="1 entries for 2 seats"):
        apply(state, [move("tp")])
    with pytest.raises(ValueError, match="seat 1 has to move"):
        apply(state, [move("tp"), None])


def test_nothing_can_be_played_after_the_end() -> None:
    """Moves in a finished game raise ValueError."""
    *_, (end, _) = random_game(Rules(players=2), SEED)
    with pytest.raises(ValueError, match="the game is over"):
        apply(end, [Move(cards("tp")), Move(cards("tp"))])


def test_later_rounds_never_use_an_earlier_rounds_cards() -> None:
    """One deck serves all rounds: each round is dealt from the cards after the previous one's."""
    rules = Rules(players=2)
    deck = unshuffled_deck(rules)
    assert [hand[0].label for hands in deals(rules, deck) for hand in hands] == [
        "tempura", "tempura", "sashimi", "dumpling", "dumpling", "maki_2",
    ]  # fmt: skip
    assert new_game(rules, deck).hands[0] == deck[:10]
