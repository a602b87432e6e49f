"""Section "Variants": pass both ways, soy sauce, two players with a dummy."""

import pytest

from arena.rules import (
    IllegalMove,
    Rules,
    State,
    apply,
    legal_moves,
    score_round,
    seats_to_move,
    view,
)

from .helpers import VARIANTS, cards, move, name, position, random_game

SEED = bytes(range(16))
DUMMY = Rules(players=2, dummy=True)
SOY = Rules(players=3, soy_sauce=True)


def to_round(rules: Rules, number: int) -> State:
    """Play at random to the start of a round."""
    return next(state for state, _ in random_game(rules, SEED) if state.round == number)


@pytest.mark.parametrize(
    ("both", "number", "step"),
    [(True, 1, 1), (True, 2, -1), (True, 3, 1), (False, 1, 1), (False, 2, 1), (False, 3, 1)],
)
def test_pass_both_ways_turns_round_in_round_two(number: int, step: int, *, both: bool) -> None:
    """Hands go to the previous seat in round 2 of the variant, and to the next seat in all other rounds."""
    state = to_round(Rules(players=4, pass_both_ways=both), number)
    state_after = apply(state, [view(state, seat).legal_moves()[0] for seat in range(4)])
    for seat in range(4):
        assert state_after.hands[(seat + step) % 4] == state.hands[seat][1:]


@pytest.mark.parametrize(
    ("tables", "points"),
    [
        pytest.param(["soy tp sa", "tp sa", "tp"], (4, 0, 0), id="most colours and soy sauce"),
        pytest.param(["soy tp", "tp sa du m1", ""], (0, 0, 0), id="the most colours have none"),
        pytest.param(["soy tp sa", "soy du m1", "tp"], (2, 2, 0), id="tied, both have it: split"),
        pytest.param(["soy tp", "soy du", "soy m1"], (1, 1, 1), id="three tied: remainder dropped"),
        pytest.param(["soy tp", "sa du", "m1"], (4, 0, 0), id="tied, one has it: all four"),
        pytest.param(["soy soy soy", "tp", ""], (4, 0, 0), id="several soy sauces, still four"),
        pytest.param(["soy ch", "tp", ""], (4, 0, 0), id="chopsticks on the table are a colour"),
        pytest.param(["soy pu", "tp", ""], (4, 0, 0), id="puddings of this round are a colour"),
        pytest.param(["soy m1 m2 m3", "tp sa du", ""], (0, 0, 0), id="all maki are one colour"),
        pytest.param(["soy sal squ egg wa", "tp sa du", ""], (0, 0, 0), id="nigiri are one colour"),
        pytest.param(["", "", ""], (0, 0, 0), id="nothing played"),
    ],
)
def test_soy_sauce(tables: list[str], points: tuple[int, ...]) -> None:
    """The most colours score four points if soy sauce is among them."""
    scores = score_round(SOY, [cards(table) for table in tables])
    assert tuple(score.soy_sauce for score in scores) == points


def test_puddings_of_earlier_rounds_are_not_a_colour() -> None:
    """Puddings of earlier rounds aren't a colour: only the cards played in the round count."""
    state = position(Rules(players=2, soy_sauce=True), ["soy tp", "du sa"], ["", "m1"])._replace(
        puddings=(3, 0)
    )
    state = apply(state, [move("soy"), move("du")])
    # Seat 0 ends with soy and sashimi, seat 1 with maki, dumpling and tempura.
    assert [score.soy_sauce for score in state.rounds[0]] == [0, 0]


def test_chopsticks_that_went_back_are_not_a_colour() -> None:
    """Used chopsticks are in the hand that was passed, not on the table."""
    state = position(Rules(players=2, soy_sauce=True), ["soy tp", "du sa"], ["ch", "tp"])
    state = apply(state, [move("soy tp"), move("du")])
    # Seat 0 has soy, tempura and sashimi. The chopsticks went to seat 1, which then has four colours.
    assert state.turns[-1].plays == (cards("sa"), cards("ch"))
    assert [score.soy_sauce for score in state.rounds[0]] == [4, 0]


def test_without_the_variant_there_is_no_soy_sauce() -> None:
    """Without the variant all scores for soy sauce are 0."""
    scores = score_round(Rules(players=3), [cards("tp sa du"), cards("tp"), cards("")])
    assert [score.soy_sauce for score in scores] == [0, 0, 0]


@pytest.mark.parametrize("rules", [rules for rules in VARIANTS if rules.dummy], ids=name)
def test_control_alternates_through_the_whole_game(rules: Rules) -> None:
    """Of 27 turns, seat 0 controls the odd ones, so seat 1 begins round 2 and seat 0 begins round 3."""
    controllers = [state.controller for state, _ in random_game(rules, SEED) if not state.over]
    assert controllers == [number % 2 for number in range(27)]


@pytest.mark.parametrize("rules", [rules for rules in VARIANTS if rules.dummy], ids=name)
def test_in_the_last_turn_only_the_controller_is_asked(rules: Rules) -> None:
    """The opponent's last card is automatic. The controller chooses which of two cards the dummy gets."""
    for state, _ in random_game(rules, SEED):
        if not state.over:
            last = state.turn == 9
            assert seats_to_move(state) == ((state.controller,) if last else (0, 1))
            sizes = [10 - state.turn] * 2
            sizes[state.controller or 0] += 1
            assert [len(hand) for hand in state.hands] == sizes
            assert len(state.pile) == 9 - state.turn


def test_the_controller_draws_plays_for_both_and_hands_are_swapped() -> None:
    """The drawn card is in the hand. The controller and the dummy get a card each; then hands are swapped."""
    state = position(DUMMY, ["tp sa du m1", "pu wa pu"])
    assert state.controller == 0
    drawn = state.pile[0]
    state = apply(state, [move("tp", "sa"), move("wa")])
    assert state.turns[-1].plays == (cards("tp"), cards("wa"), cards("sa"))
    assert state.tables == (cards("tp"), cards("wa"), cards("sa"))
    assert state.hands == (cards("pu pu"), tuple(sorted((*cards("du m1"), drawn))))
    assert (state.controller, state.drawn) == (1, drawn)


def test_the_controller_must_name_a_card_for_the_dummy() -> None:
    """The controller's move is refused without a card for the dummy."""
    state = position(DUMMY, ["tp sa du m1", "pu wa pu"])
    with pytest.raises(IllegalMove, match="no card given for the dummy") as error:
        apply(state, [move("tp"), move("wa")])
    assert error.value.rule == "Variants: two players with a dummy"


@pytest.mark.parametrize("rules", [DUMMY, Rules(players=2)], ids=name)
def test_nobody_else_may_name_a_card_for_the_dummy(rules: Rules) -> None:
    """A card for the dummy is refused from a seat without control of it, and in a game without a dummy."""
    state = position(rules, ["tp sa du m1", "pu wa pu"][: rules.players])
    state = state._replace(hands=(cards("tp sa du"), cards("pu wa pu"))) if not rules.dummy else state
    first = move("tp", "sa") if rules.dummy else move("tp")
    with pytest.raises(IllegalMove, match="which this seat does not control") as error:
        apply(state, [first, move("wa", "pu")])
    assert error.value.seat == 1


def test_the_dummys_card_comes_out_of_the_same_hand() -> None:
    """One tempura can't be both the controller's and the dummy's."""
    state = position(DUMMY, ["tp sa du m1", "pu wa pu"])
    with pytest.raises(IllegalMove, match="2 tempura are not in the hand"):
        apply(state, [move("tp", "tp"), move("wa")])


def test_the_controllers_chopsticks() -> None:
    """A hand of three gives the controller two cards and the dummy one; the chopsticks go back into it."""
    state = position(DUMMY, ["pu wa", "tp sa du"], ["", "ch", ""])
    assert state.controller == 1
    state = apply(state, [move("wa"), move("tp sa", "du")])
    assert state.tables == (cards("wa"), cards("tp sa"), cards("du"))
    assert state.drawn is not None
    assert sorted(state.hands[0]) == sorted((*cards("ch"), state.drawn))
    two = position(DUMMY, ["tp sa", "pu"], ["ch", "", ""])
    with pytest.raises(IllegalMove, match="two cards given, but a hand of 2 is too small") as error:
        apply(two, [move("tp sa", "tp"), None])
    assert error.value.rule == "Chopsticks"


def test_the_dummys_chopsticks_can_not_be_used() -> None:
    """Neither the dummy nor its controller may use the dummy's chopsticks."""
    state = position(DUMMY, ["tp sa du m1", "pu wa pu"], ["", "", "ch"])
    assert all(len(choice.cards) == 1 for choice in view(state, 0).legal_moves())
    with pytest.raises(IllegalMove, match="without chopsticks"):
        apply(state, [move("tp sa", "du"), move("wa")])


def test_the_dummys_nigiri_goes_on_its_wasabi() -> None:
    """The dummy scores by the same rules, as a third player."""
    state = position(DUMMY, ["squ m3", "pu"], ["", "", "wa"])
    state = apply(state, [move("m3", "squ"), None])
    assert [score.nigiri for score in state.rounds[0]] == [0, 0, 9]


def test_the_dummy_takes_maki_points() -> None:
    """If the dummy has the most icons, the player with the second most gets only the lower score."""
    state = position(DUMMY, ["m3 m1", "pu"], ["m1", "m1", "m2"])
    state = apply(state, [move("m1", "m3"), None])
    assert [score.maki for score in state.rounds[0]] == [3, 0, 6]


def test_the_dummy_has_a_total_but_no_place() -> None:
    """The dummy has a total but no place: there are three totals and two places."""
    *_, (state, _) = random_game(DUMMY, SEED)
    assert state.result is not None
    assert len(state.result.totals) == len(state.result.puddings) == 3
    assert sorted(state.result.places) in ([1, 2], [1, 1])


def test_legal_moves_in_control() -> None:
    """Every card of the hand can be combined with any other for the dummy. No combination is listed twice."""
    moves = legal_moves(cards("tp tp sa"), (), control=True)
    assert sorted(moves) == sorted([move("tp", "tp"), move("tp", "sa"), move("sa", "tp")])
