"""Placed cards as they lie on a table: sets together, a nigiri on its wasabi, and their points."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.rules import Card, Rules, Table, score_round
from arena.rules.cards import MAKI_ICONS, NIGIRI_POINTS

_ROOM: Final = {Card.TEMPURA: 2, Card.SASHIMI: 3, Card.WASABI: 1}
"""How many go onto one stack where it is not all of them."""


@dataclass(frozen=True, slots=True)
class Stack:
    """Cards that count together.

    Attributes:
        cards: In the order of placing.
        new: Which of them were placed in this turn.
        points: What they have earned so far; None where that is not known yet or nothing.
        rolls: Icons of maki; 0 for other cards.
    """

    cards: tuple[Card, ...]
    new: tuple[bool, ...]
    points: int | None
    rolls: int

    @property
    def tripled(self) -> tuple[Card, ...]:
        """The nigiri that was placed on the wasabi in this turn, if there is one."""
        on_wasabi = self.cards[0] is Card.WASABI
        return tuple(
            card for card, new in zip(self.cards[1:], self.new[1:], strict=True) if on_wasabi and new
        )


def earned(rules: Rules, table: Table) -> int:
    """Return the points of a table that are sure already: of tempura, sashimi, dumplings and nigiri."""
    score = score_round(rules, (table, ()))[0]  # nobody plays alone
    return score.tempura + score.sashimi + score.dumpling + score.nigiri


def stacks(rules: Rules, table: Table, *, kept: int = 0, new: int = 0) -> tuple[Stack, ...]:
    """Lay a table out.

    Args:
        rules: What is played.
        table: Cards of this round in the order of placing.
        kept: Puddings of the rounds before, which lie there too.
        new: How many of the cards were placed in this turn: the last ones.

    Returns:
        The stacks, in the order in which they were begun.
    """
    laid: list[list[tuple[Card, bool]]] = [[(Card.PUDDING, False)] * kept] if kept else []
    for number, card in enumerate(table):
        placed = (card, number >= len(table) - new)
        found = _stack_for(card, [[lying for lying, _ in stack] for stack in laid])
        if found is None:
            laid.append([placed])
        else:
            laid[found].append(placed)
    return tuple(_stack(rules, stack) for stack in laid)


def with_points(laid: Sequence[Stack], card: Card, points: int) -> tuple[Stack, ...]:
    """Give points that only a whole round or game decides to the stack that begins with such a card.

    Args:
        laid: The stacks of a table.
        card: The kind that earned them; any maki stands for all.
        points: Nothing is shown for 0.
    """
    found = next(
        (number for number, stack in enumerate(laid) if _family(stack.cards[0]) is _family(card)), None
    )
    if found is None or not points:
        return tuple(laid)
    stack = laid[found]
    return (*laid[:found], Stack(stack.cards, stack.new, points, stack.rolls), *laid[found + 1 :])


def _stack_for(card: Card, laid: Sequence[Sequence[Card]]) -> int | None:
    """Return the stack that a card goes onto, or None where it begins one."""
    if card in NIGIRI_POINTS and [Card.WASABI] in laid:
        return laid.index([Card.WASABI])
    for number, stack in enumerate(laid):
        if _family(stack[0]) is _family(card) and len(stack) < _ROOM.get(card, len(stack) + 1):
            return number
    return None


def _family(card: Card) -> Card:
    """Return the kind that stands for all that lie together with this one."""
    if card in MAKI_ICONS:
        return Card.MAKI_1
    return Card.SALMON_NIGIRI if card in NIGIRI_POINTS else card


def _stack(rules: Rules, laid: Sequence[tuple[Card, bool]]) -> Stack:
    cards = tuple(card for card, _ in laid)
    return Stack(
        cards,
        tuple(new for _, new in laid),
        earned(rules, cards) or None,
        sum(MAKI_ICONS.get(card, 0) for card in cards),
    )
