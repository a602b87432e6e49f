"""What one bot takes, compared with everybody."""

from itertools import pairwise

import pytest

from arena.cardstats import ALL_TURNS, Count, Tally, habits, nothing
from arena.rules import Card


def tally(counts: dict[tuple[int, Card, int], tuple[int, int]]) -> Tally:
    """Return a tally of decisions that had a card, and that took it, with the sums over all turns."""
    sums: dict[tuple[int, Card, int], Count] = {}
    for (players, card, turn), (seen, taken) in counts.items():
        sums[players, card, turn] = Count(seen=seen, taken=taken)
        total = sums.get((players, card, ALL_TURNS), Count())
        sums[players, card, ALL_TURNS] = Count(seen=total.seen + seen, taken=total.taken + taken)
    return Tally(games={}, counts=sums)


EVERYBODY = tally(
    {
        (2, Card.WASABI, 1): (100, 50),
        (2, Card.WASABI, 2): (100, 10),
        (3, Card.WASABI, 1): (100, 90),
        (2, Card.PUDDING, 1): (100, 20),
    }
)


def test_everybody_is_taken_in_the_same_place() -> None:
    """As many players, the same turns: who is like everybody there differs by nothing, whatever the mix."""
    own = tally({(2, Card.WASABI, 1): (10, 5), (2, Card.WASABI, 2): (20, 2), (3, Card.WASABI, 1): (10, 9)})
    (wasabi,) = habits(own, EVERYBODY)
    assert (wasabi.card, wasabi.seen, wasabi.taken) == (Card.WASABI.label, 40, 16)
    assert wasabi.rate == 16 / 40
    assert wasabi.usual == pytest.approx(16 / 40)
    assert wasabi.difference == pytest.approx(0)


def test_a_taste_shows() -> None:
    """In the order of the deck, with what was never taken; what was never seen is not there."""
    own = tally({(2, Card.PUDDING, 1): (10, 0), (2, Card.WASABI, 1): (10, 10)})
    found = habits(own, EVERYBODY)
    order = [card.label for card in Card]
    assert all(order.index(one.card) < order.index(other.card) for one, other in pairwise(found))
    assert {habit.card: habit.difference for habit in found} == {
        Card.PUDDING.label: pytest.approx(-0.2),
        Card.WASABI.label: pytest.approx(0.5),
    }


def test_what_is_not_counted_is_not_compared() -> None:
    """A place in which nobody was counted leaves the comparison out, and not the bot's own figures."""
    (wasabi,) = habits(tally({(2, Card.WASABI, 1): (10, 5), (5, Card.WASABI, 1): (10, 5)}), EVERYBODY)
    assert (wasabi.rate, wasabi.usual, wasabi.difference) == (0.5, None, None)
    assert habits(nothing(), EVERYBODY) == ()
