"""Sections "Scoring a round", "Puddings, at the end" and "Places"; test_against_naive.py has the rest."""

import pytest

from arena.rules import Rules, places, score_puddings, score_round
from arena.rules.scoring import score_maki

from .helpers import cards


def points(table: str) -> int:
    """Return a table's points for tempura, sashimi and dumplings."""
    score = score_round(Rules(players=2), [cards(table), cards("")])[0]
    return score.tempura + score.sashimi + score.dumpling


@pytest.mark.parametrize(
    ("card", "expected"),
    [
        ("tp", [0, 0, 5, 5, 10, 10, 15]),
        ("sa", [0, 0, 0, 10, 10, 10, 20, 20, 20, 30]),
        ("du", [0, 1, 3, 6, 10, 15, 15, 15]),
        ("wa", [0, 0, 0]),
        ("ch", [0, 0, 0]),
    ],
)
def test_sets(card: str, expected: list[int]) -> None:
    """Tempura score by pairs, sashimi by threes, dumplings up to 15. Wasabi and chopsticks score nothing."""
    assert [points(" ".join([card] * count)) for count in range(len(expected))] == expected


@pytest.mark.parametrize(
    ("icons", "expected"),
    [
        ((0, 0), (0, 0)),
        ((3, 0), (6, 0)),
        ((3, 2), (6, 3)),
        ((4, 4), (3, 3)),
        ((5, 3, 1), (6, 3, 0)),
        ((5, 3, 3), (6, 1, 1)),
        ((5, 5, 3), (3, 3, 0)),
        ((2, 2, 2), (2, 2, 2)),
        ((5, 2, 2, 2), (6, 1, 1, 1)),
        ((5, 2, 2, 2, 2), (6, 0, 0, 0, 0)),
        ((4, 4, 4, 4), (1, 1, 1, 1)),
        ((1, 1, 1, 1, 1), (1, 1, 1, 1, 1)),
        ((1, 0, 0, 0, 0), (6, 0, 0, 0, 0)),
    ],
)
def test_maki(icons: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """Most icons score 6, second most 3. Ties split, without remainder; a tie for most leaves no second."""
    assert score_maki(icons) == expected


def test_maki_counts_icons_not_cards() -> None:
    """One card with three icons beats two cards with one icon each."""
    scores = score_round(Rules(players=2), [cards("m1 m1"), cards("m3")])
    assert [score.maki for score in scores] == [3, 6]


@pytest.mark.parametrize(
    ("players", "puddings", "expected"),
    [
        (2, (3, 1), (6, 0)),
        (2, (0, 1), (0, 6)),
        (2, (2, 2), (0, 0)),
        (3, (3, 1, 0), (6, 0, -6)),
        (3, (3, 3, 0), (3, 3, -6)),
        (3, (3, 0, 0), (6, -3, -3)),
        (3, (1, 1, 1), (0, 0, 0)),
        (4, (4, 1, 1, 1), (6, -2, -2, -2)),
        (4, (2, 2, 2, 0), (2, 2, 2, -6)),
        (5, (4, 1, 1, 1, 1), (6, -1, -1, -1, -1)),
        (5, (2, 2, 2, 2, 0), (1, 1, 1, 1, -6)),
        (5, (0, 0, 0, 0, 0), (0, 0, 0, 0, 0)),
    ],
)
def test_puddings(players: int, puddings: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """Most puddings score 6, fewest -6. Ties split; if all tie, none score. Two players don't lose points."""
    assert score_puddings(Rules(players=players), puddings) == expected


def test_puddings_with_a_dummy() -> None:
    """The fewest puddings lose points as with three players. The dummy can win or lose points."""
    rules = Rules(players=2, dummy=True)
    assert score_puddings(rules, (1, 0, 3)) == (0, -6, 6)
    assert score_puddings(rules, (1, 1, 0)) == (3, 3, -6)


@pytest.mark.parametrize(
    ("totals", "puddings", "expected"),
    [
        ((40, 31, 37), (2, 0, 1), (1, 3, 2)),
        ((30, 30, 20), (2, 1, 5), (1, 2, 3)),
        ((30, 30, 20), (2, 2, 5), (1, 1, 3)),
        ((20, 30, 30), (0, 2, 2), (3, 1, 1)),
        ((30, 30, 30), (1, 2, 2), (3, 1, 1)),
        ((0, -6), (0, 0), (1, 2)),
        ((5, 5, 5, 5, 5), (0, 0, 0, 0, 0), (1, 1, 1, 1, 1)),
    ],
)
def test_places(totals: tuple[int, ...], puddings: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """Totals count first, then puddings. If both are equal, the place is shared and the next one skipped."""
    assert places(totals, puddings) == expected
