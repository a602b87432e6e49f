"""What placed cards earned."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.cardstats import POINT, earned
from arena.rules import Card, Result, RoundScore, Rules, State, Turn, new_game, score_round, shuffled_deck
from tests.rules.helpers import VARIANTS, cards, random_game, seeds

PLAIN = [rules for rules in VARIANTS if not rules.dummy]


def ended(mine: str, theirs: str = "", *, puddings: tuple[int, int] = (0, 0), gain: int = 0) -> State:
    """Make the end of a game in which each turn of the first round placed one card, and the others none."""
    rules = Rules(players=2, soy_sauce=True)
    tables = (cards(mine), cards(theirs))
    turns = tuple(
        Turn(1, number, tuple((table[number - 1],) if number <= len(table) else () for table in tables))
        for number in range(1, max(map(len, tables)) + 1)
    )
    empty = (RoundScore(0, 0, 0, 0, 0, 0),) * 2
    return new_game(rules, shuffled_deck(rules, bytes(16)))._replace(
        turns=turns,
        rounds=(score_round(rules, tables), empty, empty),
        result=Result(puddings, (gain, -gain), (0, 0), (1, 2)),
    )


@pytest.mark.parametrize(
    ("mine", "theirs", "points"),
    [
        ("sal squ egg", "", "2 3 1"),
        ("wa sal", "", "4 2"),
        ("wa wa egg squ sal", "", "2 6 1 3 2"),
        ("egg wa", "", "1 0"),
        ("tp tp tp", "", "5/2 5/2 0"),
        ("tp sal tp", "", "5/2 2 5/2"),
        ("sa sa sa sa", "", "10/3 10/3 10/3 0"),
        ("sa sa", "", "0 0"),
        ("du", "", "1"),
        ("du du du", "", "2 2 2"),
        ("du du du du du du", "", "3 3 3 3 3 0"),
        ("m3 m1", "m1 m2", "9/2 3/2"),
        ("m2", "m3", "3"),
        ("m2", "m1 m1", "3"),
        ("ch pu", "", "0 0"),
        ("soy tp soy", "sal", "2 0 2"),
    ],
)
def test_each_card_gets_its_share(mine: str, theirs: str, points: str) -> None:
    """Nigiri and wasabi their own, sets in the order of placing, maki by icons."""
    shares = earned(ended(mine, theirs), 0)
    got = [Fraction(share, POINT) for turn in sorted(shares) for share in shares[turn]]
    assert got == [Fraction(text) for text in points.split()]


def test_the_most_puddings_pay_each_of_them_and_the_fewest_none() -> None:
    """Puddings of other rounds count with them; a loss is no card's."""
    end = ended("pu pu", "pu", puddings=(4, 1), gain=6)
    assert earned(end, 0) == {(1, 1): (POINT * 6 // 4,), (1, 2): (POINT * 6 // 4,)}
    assert earned(end, 1) == {(1, 1): (0,), (1, 2): ()}


def test_a_game_that_is_not_over_earned_nothing_yet() -> None:
    """That is said, not guessed."""
    rules = Rules(players=2)
    with pytest.raises(ValueError, match="not over"):
        earned(new_game(rules, shuffled_deck(rules, bytes(16))), 0)


@given(st.sampled_from(PLAIN), seeds)
def test_all_points_are_handed_out_and_no_more(rules: Rules, seed: bytes) -> None:
    """Exactly: what a seat's cards earned is its total, but for what it lost for the fewest puddings."""
    *_, (end, _) = random_game(rules, seed)
    assert end.result is not None
    for seat in range(rules.players):
        shares = earned(end, seat)
        for turn in end.turns:
            assert len(shares[turn.round, turn.turn]) == len(turn.plays[seat])
        loss = min(end.result.pudding_scores[seat], 0)
        assert sum(map(sum, shares.values())) == POINT * (end.result.totals[seat] - loss)


def test_a_point_can_be_shared_by_every_number_of_icons() -> None:
    """Also by the most that one player can have: the ten cards with the most icons."""
    icons = sorted([1] * 6 + [2] * 12 + [3] * 8)[-10:]
    assert all(POINT % number == 0 for number in range(1, sum(icons) + 1))
    assert Card.MAKI_3.label == "maki_3"
