"""Section "A bot's view"."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rules import Card, Rules, State, apply, new_game, seats_to_move, view

from .helpers import random_game, seeds, variants


@given(variants, seeds)
def test_a_view_shows_what_a_player_sees_at_the_table(rules: Rules, seed: bytes) -> None:
    """A view has the seat's hand and earlier hands, and everything that is public."""
    for state, moves in random_game(rules, seed):
        for seat in seats_to_move(state):
            seen = view(state, seat)
            assert seen.hand == state.hands[seat]
            assert list(seen.hand) == sorted(seen.hand)
            assert seen.table == state.tables[seat]
            assert seen.tables == state.tables
            assert (seen.puddings, seen.scores, seen.turns) == (state.puddings, state.scores, state.turns)
            assert seen.hand_sizes[: rules.players] == tuple(len(hand) for hand in state.hands)
            assert seen.hand_sizes[rules.players :] == ((len(state.pile),) if rules.dummy else ())
            assert seen.control == (state.controller == seat)
            assert seen.drawn == (state.drawn if seen.control else None)
            assert moves is not None
            assert moves[seat] in seen.legal_moves()
            assert [len(hand) for hand in seen.past_hands] == [
                rules.hand_size - turn + (rules.dummy and (seat + turn + (state.round - 1) * 9) % 2 == 0)
                for turn in range(state.turn - 1)
            ]


def test_only_a_seat_that_is_asked_has_a_view() -> None:
    """The opponent's automatic last card is not a decision, and a finished game has none."""
    for state, _ in random_game(Rules(players=2, dummy=True), bytes(16)):
        for seat in {0, 1} - set(seats_to_move(state)):
            with pytest.raises(ValueError, match=f"seat {seat} has no move to make now"):
                view(state, seat)


@given(variants, seeds, st.integers(0, 26), st.integers(0, 4), st.randoms(use_true_random=False))
def test_a_view_does_not_depend_on_what_is_hidden(
    rules: Rules, seed: bytes, step: int, seat: int, dice: Random
) -> None:
    """The others' hands and earlier hands, the pile and the deck may have any cards."""
    states = [state for state, moves in random_game(rules, seed) if moves is not None]
    state = states[step % len(states)]
    seat = seats_to_move(state)[seat % len(seats_to_move(state))]

    def other(hands: tuple[tuple[Card, ...], ...]) -> tuple[tuple[Card, ...], ...]:
        return tuple(
            hand if owner == seat else tuple(dice.choice(list(Card)) for _ in hand)
            for owner, hand in enumerate(hands)
        )

    changed = state._replace(
        deck=tuple(dice.sample(state.deck, len(state.deck))),
        hands=other(state.hands),
        past_hands=tuple(
            hands if owner == seat else tuple(tuple(dice.choice(list(Card)) for _ in hand) for hand in hands)
            for owner, hands in enumerate(state.past_hands)
        ),
        pile=tuple(dice.choice(list(Card)) for _ in state.pile),
        drawn=state.drawn if seat == state.controller else dice.choice(list(Card)),
    )
    assert view(changed, seat) == view(state, seat)


@given(variants, seeds, st.integers(0, 26), st.integers(0, 4), st.randoms(use_true_random=False))
def test_games_that_differ_in_unseen_cards_look_the_same(
    rules: Rules, seed: bytes, step: int, seat: int, dice: Random
) -> None:
    """If cards that a seat can't have seen are exchanged in the deck, all its views so far stay equal."""
    game = [(state, moves) for state, moves in random_game(rules, seed) if moves is not None]
    game = game[: step % len(game) + 1]
    state, _ = game[-1]
    seat = seats_to_move(state)[seat % len(seats_to_move(state))]
    unseen = unseen_positions([state for state, _ in game], seat)
    mixed = dice.sample(unseen, len(unseen))
    deck = list(state.deck)
    for place, card in zip(unseen, [state.deck[position] for position in mixed], strict=True):
        deck[place] = card

    again = new_game(rules, deck)
    for number, (before, moves) in enumerate(game):
        if seat in seats_to_move(before):
            assert view(again, seat) == view(before, seat)
        if number < len(game) - 1:
            again = apply(again, moves)


def unseen_positions(states: list[State], seat: int) -> list[int]:
    """Return positions of the deck whose cards this seat has neither held nor seen played.

    In a hand that it never held, as many cards of each kind count as seen as were played from it, at any
    of their positions.
    """
    state = states[-1]
    rules, size = state.rules, state.rules.hand_size
    start = (state.round - 1) * size * rules.participants
    hidden = list(range(start + size * rules.participants, len(state.deck)))
    if rules.dummy:
        # The cards drawn so far are in hands. Only the controller has seen the last of them.
        drawn = state.turn if seat == state.controller else state.turn - 1
        hidden += range(start + size * rules.players + drawn, start + size * rules.participants)
    step = -1 if rules.pass_both_ways and state.round == 2 else 1
    for origin in range(rules.players):
        holders = [(origin + step * turn) % rules.players for turn in range(state.turn)]
        if seat in holders:
            continue
        played: list[Card] = []
        for turn, holder in zip(state.turns[len(state.turns) - state.turn + 1 :], holders, strict=False):
            played += turn.plays[holder]
            if rules.dummy:
                played += turn.plays[-1]
        for position in range(start + origin * size, start + (origin + 1) * size):
            if state.deck[position] in played:
                played.remove(state.deck[position])
            else:
                hidden.append(position)
    return hidden


@given(variants, seeds, st.integers(0, 26))
def test_there_are_unseen_cards_to_exchange(rules: Rules, seed: bytes, step: int) -> None:
    """At least before the last round there are unseen cards, so the previous test does exchange cards."""
    states = [state for state, moves in random_game(rules, seed) if moves is not None]
    states = states[: step % len(states) + 1]
    unseen = unseen_positions(states, seats_to_move(states[-1])[0])
    assert len(unseen) >= (3 - states[-1].round) * rules.hand_size * rules.participants
    assert states[-1].turn > 1 or len(unseen) >= rules.hand_size * (rules.players - 1)
