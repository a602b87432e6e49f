"""Legal moves: exactly those that are listed."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rules import Card, IllegalMove, Move, Rules, apply, check_move, legal_moves, seats_to_move, view

from .helpers import random_game, seeds, variants

hands = st.lists(st.sampled_from(Card), min_size=2, max_size=10).map(lambda hand: tuple(sorted(hand)))
table_cards = st.lists(st.sampled_from(Card), max_size=9).map(tuple)
EVERY_MOVE = [
    Move(named, dummy)
    for length in (0, 1, 2)
    for named in product(Card, repeat=length)
    for dummy in (None, *Card)
]


def accepted(hand: tuple[Card, ...], table: tuple[Card, ...], candidate: Move, *, control: bool) -> bool:
    """Return True if ``check_move`` accepts a move."""
    try:
        check_move(0, hand, table, candidate, control=control)
    except IllegalMove:
        return False
    return True


@given(hand=hands, table=table_cards, control=st.booleans())
def test_exactly_the_listed_moves_are_accepted(
    *, hand: tuple[Card, ...], table: tuple[Card, ...], control: bool
) -> None:
    """Of all conceivable moves, the check accepts those that are listed. None is listed twice."""
    listed = legal_moves(hand, table, control=control)
    candidates = [*EVERY_MOVE, *(Move(hand[:3], dummy) for dummy in (None, *Card))]
    passed = {candidate for candidate in candidates if accepted(hand, table, candidate, control=control)}
    assert passed == set(listed)
    assert len(listed) == len(passed)


@given(variants, seeds, st.integers(0, 26), st.data())
def test_an_illegal_move_changes_nothing_and_names_its_rule(
    rules: Rules, seed: bytes, step: int, data: st.DataObject
) -> None:
    """For any illegal move of a seat, the error names the seat and the rule, and the game can go on."""
    game = list(random_game(rules, seed))
    step %= len(game) - 1
    state, moves = game[step]
    seat = data.draw(st.sampled_from(seats_to_move(state)))
    legal = set(view(state, seat).legal_moves())
    wrong = data.draw(st.sampled_from(EVERY_MOVE).filter(lambda candidate: candidate not in legal))
    before = repr(state)
    assert moves is not None
    with pytest.raises(IllegalMove) as caught:
        apply(state, [wrong if other == seat else choice for other, choice in enumerate(moves)])
    assert caught.value.seat == seat
    assert caught.value.rule in {"Course of a game", "Chopsticks", "Variants: two players with a dummy"}
    assert str(caught.value).endswith(f"({caught.value.rule})")
    assert repr(state) == before
    assert apply(state, moves) == game[step + 1][0]
