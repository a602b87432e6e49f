"""Sections "Scoring a round" and "Puddings, at the end", with brute force beside the score functions."""

from collections.abc import Sequence
from itertools import groupby, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rules import Card, Rules, score_nigiri, score_puddings, score_round
from arena.rules.scoring import score_maki, score_soy_sauce

from .helpers import cards

tables = st.lists(st.sampled_from(Card), max_size=10).map(tuple)


def points(table: str) -> int:
    """Points of one table for the kinds that don't depend on others."""
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
    """Tempura by pairs, sashimi by threes, dumplings up to 15, the rest nothing."""
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
    """Most 6, second most 3, split, remainder dropped; no second after a tie; nothing for no icons."""
    assert score_maki(icons) == expected


def test_maki_counts_icons_not_cards() -> None:
    """One card with three icons beats two cards with one."""
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
    """Most +6, fewest -6, split towards nothing; all equal nothing; two players lose nothing."""
    assert score_puddings(Rules(players=players), puddings) == expected


def test_puddings_with_a_dummy() -> None:
    """The loss applies as with three players, and the dummy can win or lose points."""
    rules = Rules(players=2, dummy=True)
    assert score_puddings(rules, (1, 0, 3)) == (0, -6, 6)
    assert score_puddings(rules, (1, 1, 0)) == (3, 3, -6)


def ranked(amounts: Sequence[int]) -> list[list[int]]:
    """Group the players by amount, largest first: the way one ranks by hand."""
    order = sorted(range(len(amounts)), key=lambda player: -amounts[player])
    return [list(group) for _, group in groupby(order, key=lambda player: amounts[player])]


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_maki_against_brute_force(count: int) -> None:
    """All distributions of up to four icons each agree with ranking by hand."""
    for icons in product(range(5), repeat=count):
        expected = [0] * count
        groups = [group for group in ranked(icons) if icons[group[0]]]
        for prize, group in zip((6, 3), groups, strict=False):
            for player in group:
                expected[player] = prize // len(group)
            if len(group) > 1:
                break
        assert score_maki(icons) == tuple(expected)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_puddings_against_brute_force(count: int) -> None:
    """All distributions of up to three puddings each agree with ranking by hand."""
    for puddings in product(range(4), repeat=count):
        expected = [0] * count
        groups = ranked(puddings)
        if len(groups) > 1:
            for player in groups[0]:
                expected[player] = [6, 3, 2, 1, 1][len(groups[0]) - 1]
            for player in groups[-1] if count > 2 else []:
                expected[player] = [-6, -3, -2, -1, -1][len(groups[-1]) - 1]
        assert score_puddings(Rules(players=count), puddings) == tuple(expected)


@given(tables)
def test_nigiri_against_brute_force(table: tuple[Card, ...]) -> None:
    """Laying every nigiri by hand on the oldest wasabi that is free gives the same points."""
    values = {Card.SALMON_NIGIRI: 2, Card.SQUID_NIGIRI: 3, Card.EGG_NIGIRI: 1}
    taken: set[int] = set()
    total = 0
    for at, card in enumerate(table):
        if card in values:
            free = [
                earlier for earlier in range(at) if table[earlier] is Card.WASABI and earlier not in taken
            ]
            taken.update(free[:1])
            total += values[card] * (3 if free else 1)
    assert score_nigiri(table) == total


@given(st.lists(tables, min_size=2, max_size=5))
def test_soy_sauce_against_brute_force(all_tables: list[tuple[Card, ...]]) -> None:
    """Counting colours by the groups of kinds that share one gives the same points."""
    groups = ["tp", "sa", "du", "m1 m2 m3", "sal squ egg wa", "pu", "ch", "soy"]
    colours = [sum(any(card in table for card in cards(group)) for group in groups) for table in all_tables]
    best = ranked(colours)[0]
    sharers = [player for player in best if Card.SOY_SAUCE in all_tables[player]]
    expected = [4 // len(sharers) if player in sharers else 0 for player in range(len(all_tables))]
    assert score_soy_sauce(all_tables) == tuple(expected)


@given(st.lists(tables, min_size=2, max_size=5))
def test_a_round_is_the_sum_of_its_parts(all_tables: list[tuple[Card, ...]]) -> None:
    """Sets are counted by taking them away one after the other."""
    scores = score_round(Rules(players=len(all_tables), soy_sauce=True), all_tables)
    for table, score in zip(all_tables, scores, strict=True):
        for kind, size, value, result in (
            (Card.TEMPURA, 2, 5, score.tempura),
            (Card.SASHIMI, 3, 10, score.sashimi),
        ):
            left, total = list(table), 0
            while left.count(kind) >= size:
                total += value
                for _ in range(size):
                    left.remove(kind)
            assert result == total
        # 1, 3, 6, 10, 15 are the sums 1 + 2 + 3 + 4 + 5.
        assert score.dumpling == sum(range(1, min(table.count(Card.DUMPLING), 5) + 1))
        assert score.nigiri == score_nigiri(table)
