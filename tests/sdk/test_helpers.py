"""The cards that a bot can infer from its view."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from arena.rules import State, apply, new_game, seats_to_move, shuffled_deck, view
from arena.sdk.helpers import known_hands, unseen_cards
from tests.rules.helpers import VARIANTS


@st.composite
def states(draw: st.DrawFn) -> State:
    """Return the state at any decision of a random game in any variant."""
    rules = draw(st.sampled_from(VARIANTS))
    state = new_game(rules, shuffled_deck(rules, draw(st.binary(min_size=16, max_size=16))))
    for _ in range(draw(st.integers(0, 3 * rules.turns))):
        choices = {seat: view(state, seat).legal_moves() for seat in seats_to_move(state)}
        # Moves with chopsticks are the last in the list.
        picks = {
            seat: legal[-1 - draw(st.integers(0, min(9, len(legal) - 1)))] for seat, legal in choices.items()
        }
        after = apply(state, [picks.get(seat) for seat in range(rules.players)])
        if after.over:
            break
        state = after
    return state


@given(state=states(), data=st.data())
def test_hands_that_were_seen_are_known(state: State, data: st.DataObject) -> None:
    """All cards of a hand that was passed on are known, except one drawn from the dummy's pile."""
    seat = data.draw(st.sampled_from(seats_to_move(state)))
    step = -1 if state.rules.pass_both_ways and state.round == 2 else 1
    players = state.rules.players
    known = known_hands(view(state, seat))
    for passed in range(players):
        other = (seat + passed * step) % players
        if passed >= state.turn:
            assert known[other] == ()
            continue
        hidden = Counter(state.hands[other]) - Counter(known[other])
        drawn = [state.drawn] if other == state.controller and other != seat else []
        assert not Counter(known[other]) - Counter(state.hands[other])
        assert list(hidden.elements()) == drawn


@given(state=states(), data=st.data())
def test_unseen_cards_are_all_the_others(state: State, data: st.DataObject) -> None:
    """The unseen cards are the undealt cards and all hands and piles, except known hands."""
    seen = view(state, data.draw(st.sampled_from(seats_to_move(state))))
    size = state.rules.hand_size * state.rules.participants
    to_come = Counter(state.deck[size * state.round :])
    held = Counter(card for hand in (*state.hands, state.pile) for card in hand)
    known = Counter(card for hand in known_hands(seen) for card in hand)
    assert Counter(unseen_cards(seen)) == to_come + held - known
