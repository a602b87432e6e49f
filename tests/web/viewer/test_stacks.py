"""The layout of cards on a table."""

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


def laid(*cards: Card, kept: int = 0) -> list[tuple[tuple[Card, ...], int | None, int]]:
    """Lay out cards, and return the cards, points and rolls of each stack."""
    return [(stack.cards, stack.points, stack.rolls) for stack in stacks(BASIC, cards, kept=kept)]


def test_sets_lie_together_in_the_order_in_which_they_were_begun() -> None:
    """Complete pairs and triples are closed. Stacks of dumplings and maki grow."""
    assert laid(T, S, T, M1, T, S, D, S, S, M3, D) == [
        ((T, T), 5, 0),
        ((S, S, S), 10, 0),
        ((M1, M3), None, 4),
        ((T,), None, 0),
        ((D, D), 3, 0),
        ((S,), None, 0),
    ]


def test_a_nigiri_lies_on_the_oldest_free_wasabi() -> None:
    """Nigiri without wasabi share a stack."""
    assert laid(EGG, W, W, SQUID, EGG, SQUID, EGG) == [
        ((EGG, SQUID, EGG), 5, 0),
        ((W, SQUID), 9, 0),
        ((W, EGG), 3, 0),
    ]


def test_puddings_of_previous_rounds_are_shown() -> None:
    """The stack of puddings comes first, with this round's puddings on top."""
    assert laid(T, P, kept=2) == [((P, P, P), None, 0), ((T,), None, 0)]
    assert laid(C, C) == [((C, C), None, 0)]


def test_cards_of_this_turn_are_marked_as_new() -> None:
    """New cards may be in any stack. Nigiri on wasabi are marked as tripled."""
    wasabi, pair = stacks(BASIC, (W, T, T, SQUID), new=2)
    assert (wasabi.new, wasabi.tripled) == ((False, True), (SQUID,))
    assert (pair.new, pair.tripled) == ((False, True), ())
    both = stacks(BASIC, (W, SQUID), new=2)[0]
    assert both.tripled == (SQUID,)
    assert stacks(BASIC, (SQUID, W), new=2)[0].tripled == ()


def test_points_of_a_whole_round_go_to_their_stack() -> None:
    """The points of maki go to the stack of all maki. Zero points, or a missing stack, change nothing."""
    table = stacks(BASIC, (T, M3, M1))
    assert with_points(table, Card.MAKI_1, 6)[1] == Stack((M3, M1), (False, False), 6, 4)
    assert with_points(table, Card.MAKI_1, 0) == table
    assert with_points(table, Card.SOY_SAUCE, 4) == table


@pytest.mark.parametrize("file", SOME, ids=lambda path: path.stem)
def test_the_stacks_of_golden_games_add_up(file: Path) -> None:
    """Every card is in one stack. The points are those of the round, except maki and soy sauce."""
    film = golden(file)
    for number, result in enumerate(film.replay.rounds):
        tables = film.steps[(number + 1) * film.rules.turns - 1].moment.tables
        for table, points in zip(tables, result.breakdown, strict=True):
            found = stacks(film.rules, table)
            assert Counter(card for stack in found for card in stack.cards) == Counter(table)
            sure = sum(points.values()) - points["maki"] - points["soy_sauce"]
            assert sum(stack.points or 0 for stack in found) == earned(film.rules, table) == sure
