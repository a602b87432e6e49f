"""Properties of every state of every game."""

from collections import Counter

from hypothesis import given

from arena.rules import Card, Rules, State, score_round

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


@given(variants, seeds)
def test_hands_shrink_by_exactly_one_card_per_turn(rules: Rules, seed: bytes) -> None:
    """A hand loses one card per turn, even with chopsticks or when the controller plays for the dummy."""
    for state, _ in random_game(rules, seed):
        left = 0 if state.over else rules.turns - state.turn + 1
        sizes = [left] * rules.players
        if state.controller is not None and not state.over:
            sizes[state.controller] += 1
        assert [len(hand) for hand in state.hands] == sizes


@given(variants, seeds)
def test_scores_follow_from_the_placed_cards(rules: Rules, seed: bytes) -> None:
    """The turns suffice to compute the points of the rounds, the puddings and the totals."""
    *_, (end, _) = random_game(rules, seed)
    assert end.result is not None
    totals = list(end.result.pudding_scores)
    puddings = [0] * rules.participants
    for number, scores in enumerate(end.rounds, 1):
        piles = kept(end, number)
        assert scores == score_round(rules, [tuple(pile) for pile in piles])
        for player, score in enumerate(scores):
            totals[player] += sum(score)
            puddings[player] += piles[player].count(Card.PUDDING)
    assert end.result.totals == tuple(totals)
    assert end.result.puddings == tuple(puddings)


@given(variants, seeds)
def test_a_step_changes_no_earlier_state(rules: Rules, seed: bytes) -> None:
    """States are values: earlier ones remain unchanged."""
    shown = []
    states = []
    for state, _ in random_game(rules, seed):
        states.append(state)
        shown.append(repr(state))
    assert [repr(state) for state in states] == shown
