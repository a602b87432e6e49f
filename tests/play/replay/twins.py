"""Pairs of games that are the same for some rounds and differ afterwards."""

from collections.abc import Sequence
from random import Random

from arena.protocol.match import Decision
from arena.rules import Card, Move, Rules, State, apply, new_game, seats_to_move, shuffled_deck, view

Steps = tuple[tuple[Decision | None, ...], ...]

VARIANTS = (
    Rules(players=2, dummy=True, soy_sauce=True),
    Rules(players=3, pass_both_ways=True),
    Rules(players=5),
)


def deck_of(rules: Rules, number: int) -> tuple[Card, ...]:
    """Return the deck with this number as its seed."""
    return shuffled_deck(rules, number.to_bytes(16, "big"))


def twin_of(rules: Rules, deck: Sequence[Card], rounds: int, dice: Random) -> tuple[Card, ...]:
    """Return a deck with the same deals in this many rounds and different cards after them."""
    dealt = rounds * rules.participants * rules.hand_size
    rest = list(deck[dealt:])
    while rest == list(deck[dealt:]):
        dice.shuffle(rest)
    return (*deck[:dealt], *rest)


def play_rounds(rules: Rules, deck: Sequence[Card], rounds: int, dice: Random) -> tuple[State, Steps]:
    """Play this many rounds at random; return the state after them and the decisions."""
    state, steps = new_game(rules, deck), []
    while len(state.rounds) < rounds:
        moves: list[Move | None] = [None] * rules.players
        for seat in seats_to_move(state):
            moves[seat] = dice.choice(view(state, seat).legal_moves())
        steps.append(tuple(map(_decision, moves)))
        state = apply(state, moves)
    return state, tuple(steps)


def _decision(move: Move | None) -> Decision | None:
    return move and Decision(
        cards=tuple(card.label for card in move.cards),
        dummy=move.dummy.label if move.dummy else None,
        millis=2.5,
    )
