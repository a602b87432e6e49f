"""Properties of every state of every game; test_against_naive.py has the sizes of hands and the scores."""

from collections import Counter

from hypothesis import given

from arena.rules import Card, Rules, State

from .helpers import random_game, seeds, variants


def kept(state: State, number: int) -> list[list[Card]]:
    """Return the cards that each participant placed in a round, without returned chopsticks."""
    piles: list[list[Card]] = [[] for _ in range(state.rules.participants)]
    for turn in state.turns:
        if turn.round == number:
            for pile, play in zip(piles, turn.plays, strict=True):
                if len(play) == 2:
                    pile.remove(Card.CHOPSTICKS)
                pile.extend(play)
    return piles


@given(variants, seeds)
def test_cards_are_conserved(rules: Rules, seed: bytes) -> None:
    """At every step, hands, pile, tables, discarded and undealt cards make up the deck."""
    for state, _ in random_game(rules, seed):
        dealt = state.round * rules.participants * rules.hand_size
        cards = Counter(state.deck[dealt:])
        cards.update(state.pile)
        for number in range(1, state.round + 1):
            for pile in kept(state, number):
                cards.update(pile)
        for hand in state.hands:
            cards.update(hand)
        assert cards == Counter(state.deck)


@given(variants, seeds)
def test_tables_have_the_cards_placed_in_this_round(rules: Rules, seed: bytes) -> None:
    """Tables have cards in the order they were placed, without returned chopsticks."""
    for state, _ in random_game(rules, seed):
        if not state.over:
            assert [sorted(table) for table in state.tables] == [
                sorted(pile) for pile in kept(state, state.round)
            ]
            for table, pile in zip(state.tables, kept(state, state.round), strict=True):
                others = [card for card in pile if card is not Card.CHOPSTICKS]
                assert [card for card in table if card is not Card.CHOPSTICKS] == others
