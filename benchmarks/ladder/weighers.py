"""Fast bots that play real games on simulated ladders. Each weighs cards by its own fixed habits.

A weigher is drawn from a seed. Its skill depends on how close its habits are to good ones, and on how often
it takes a random card instead.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.rules import Card, Move, Rules, State, View, apply, new_game, seats_to_move, shuffled_deck, view

_BASE: Final = {
    Card.TEMPURA: 2.3,
    Card.SASHIMI: 2.2,
    Card.DUMPLING: 2.0,
    Card.MAKI_1: 1.0,
    Card.MAKI_2: 1.9,
    Card.MAKI_3: 3.0,
    Card.SALMON_NIGIRI: 2.2,
    Card.SQUID_NIGIRI: 3.2,
    Card.EGG_NIGIRI: 1.1,
    Card.PUDDING: 2.4,
    Card.WASABI: 2.8,
    Card.CHOPSTICKS: 0.6,
}
"""Approximate value of a card in points, before the weigher has any of that kind."""

_NIGIRI: Final = (Card.SALMON_NIGIRI, Card.SQUID_NIGIRI, Card.EGG_NIGIRI)


@dataclass(frozen=True, slots=True)
class Weigher:
    """A bot's habits."""

    weights: dict[Card, float]  # value of each kind of card
    sets: float  # share of the additional value of a card that completes a set, from 0 (ignored) to 1
    whim: float  # probability of taking a random card

    def choose(self, view: View, dice: random.Random) -> Move:
        """Return a move with one card. Weighers never use chopsticks."""
        if dice.random() < self.whim:
            return Move((dice.choice(view.hand),))
        mine = view.tables[view.seat]
        return Move((max(set(view.hand), key=lambda card: (self._worth(card, mine, view), -card)),))

    def _worth(self, card: Card, mine: Sequence[Card], view: View) -> float:
        worth, have = self.weights[card], mine.count(card)
        left = len(view.hand)
        if card is Card.TEMPURA:
            worth += self.sets * (2.5 if have % 2 else (-1.5 if left < 3 else 0.0))  # noqa: PLR2004 - too few turns for a set
        elif card is Card.SASHIMI:
            missing = 2 - have % 3
            worth += self.sets * (7.0 if not missing else (-2.0 if left < 3 * missing else have % 3))
        elif card is Card.DUMPLING:
            worth += self.sets * (min(have, 4) - 0.5)
        elif card in _NIGIRI:
            free = mine.count(Card.WASABI) - sum(map(mine.count, _NIGIRI))
            worth += self.sets * (1.5 * worth if free > 0 else 0.0)
        elif card is Card.WASABI and left < 4:  # noqa: PLR2004 - too few turns for a nigiri
            worth -= self.sets * 2.0
        return worth


def draw_weigher(dice: random.Random) -> Weigher:
    """Return a weigher with random habits."""
    skew = dice.uniform(0.0, 0.7)
    return Weigher(
        weights={card: worth * dice.lognormvariate(0.0, skew) for card, worth in _BASE.items()},
        sets=dice.random(),
        whim=max(0.0, dice.uniform(-0.2, 0.5)),
    )


def play_weighers(table: Sequence[Weigher], dice: random.Random) -> State:
    """Play a game by the arena's rules to its end, with one weigher in each seat."""
    rules = Rules(players=len(table))
    state = new_game(rules, shuffled_deck(rules, dice.randbytes(16)))
    while not state.over:
        moves: list[Move | None] = [None] * rules.players
        for seat in seats_to_move(state):
            moves[seat] = table[seat].choose(view(state, seat), dice)
        state = apply(state, moves)
    return state
