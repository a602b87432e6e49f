"""Tables as they are laid out."""

from collections import Counter
from pathlib import Path

import pytest

from arena.rules import Card, Rules
from tests.web.viewer.films import SOME, golden
from web.viewer.film import earned
from web.viewer.stacks import Stack, stacks, with_points

BASIC = Rules(players=2)

T, S, D, P, W, C = (
    Card.TEMPURA,
    Card.SASHIMI,
    Card.DUMPLING,
    Card.PUDDING,
    Card.WASABI,
    Card.CHOPSTICKS,
)
M1, M3, EGG, SQUID = Card.MAKI_1, Card.MAKI_3, Card.EGG_NIGIRI, Card.SQUID_NIGIRI


def laid(*cards: Card, kept: int = 0, new: int = 0) -> list[tuple[tuple[Card, ...], int | None, int]]:
    """Lay cards out; return of each stack its cards, points and rolls."""
    found = stacks(BASIC, cards, kept=kept, new=new)
    return [(stack.cards, stack.points, stack.rolls) for stack in found]


def test_sets_lie_together_in_the_order_in_which_they_were_begun() -> None:
    """Pairs and triples are closed when they are full; dumplings and maki go on."""
    assert laid(T, S, T, M1, T, S, D, S, S, M3, D) == [
        ((T, T), 5, 0),
        ((S, S, S), 10, 0),
        ((M1, M3), None, 4),
        ((T,), None, 0),
        ((D, D), 3, 0),
        ((S,), None, 0),
    ]


def test_a_nigiri_lies_on_the_oldest_free_wasabi() -> None:
    """Those without one lie together."""
    assert laid(EGG, W, W, SQUID, EGG, SQUID, EGG) == [
        ((EGG, SQUID, EGG), 5, 0),
        ((W, SQUID), 9, 0),
        ((W, EGG), 3, 0),
    ]


def test_puddings_of_the_rounds_before_lie_there_too() -> None:
    """First, and those of this round on them."""
    assert laid(T, P, kept=2) == [((P, P, P), None, 0), ((T,), None, 0)]
    assert laid(C, C) == [((C, C), None, 0)]


def test_what_was_placed_in_this_turn_is_new() -> None:
    """The last cards of the table, wherever they lie; a nigiri on wasabi is known as one."""
    wasabi, pair = stacks(BASIC, (W, T, T, SQUID), new=2)
    assert (wasabi.new, wasabi.tripled) == ((False, True), (SQUID,))
    assert (pair.new, pair.tripled) == ((False, True), ())
    both = stacks(BASIC, (W, SQUID), new=2)[0]
    assert both.tripled == (SQUID,)
    assert stacks(BASIC, (SQUID, W), new=2)[0].tripled == ()


def test_points_of_a_whole_round_go_to_their_stack() -> None:
    """Maki of any kind; nothing is added where there are none."""
    table = stacks(BASIC, (T, M3, M1))
    assert with_points(table, Card.MAKI_1, 6)[1] == Stack((M3, M1), (False, False), 6, 4)
    assert with_points(table, Card.MAKI_1, 0) == table
    assert with_points(table, Card.SOY_SAUCE, 4) == table


@pytest.mark.parametrize("file", SOME, ids=lambda path: path.stem)
def test_the_stacks_of_golden_games_add_up(file: Path) -> None:
    """Every card lies in one stack, and their points are the round's without maki and soy sauce."""
    film = golden(file)
    for number, result in enumerate(film.replay.rounds):
        tables = film.steps[(number + 1) * film.rules.turns - 1].moment.tables
        for table, points in zip(tables, result.breakdown, strict=True):
            found = stacks(film.rules, table)
            assert Counter(card for stack in found for card in stack.cards) == Counter(table)
            sure = sum(points.values()) - points["maki"] - points["soy_sauce"]
            assert sum(stack.points or 0 for stack in found) == earned(film.rules, table) == sure
