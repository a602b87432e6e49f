"""Placed cards grouped as on a table: sets, a nigiri on its wasabi, and their points."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.rules import Card, Rules, Table
from arena.rules.cards import MAKI_ICONS, NIGIRI_POINTS
from web.viewer.film import Film, FilmStage, Frame, earned

_MAX_STACK: Final = {Card.TEMPURA: 2, Card.SASHIMI: 3, Card.WASABI: 1}
"""Maximum number per stack; kinds not listed have no maximum."""


@dataclass(frozen=True, slots=True)
class Stack:
    """Cards that score together."""

    cards: tuple[Card, ...]  # in the order in which they were placed
    new: tuple[bool, ...]  # for each card, whether it was placed in this turn
    points: int | None  # earned so far; None if unknown or zero
    rolls: int  # Maki icons; 0 for other cards

    @property
    def tripled(self) -> tuple[Card, ...]:
        """The nigiri placed on the wasabi in this turn, if any."""
        on_wasabi = self.cards[0] is Card.WASABI
        return tuple(
            card for card, new in zip(self.cards[1:], self.new[1:], strict=True) if on_wasabi and new
        )


def stacks(rules: Rules, table: Table, *, kept: int = 0, new: int = 0) -> tuple[Stack, ...]:
    """Group a table's cards into stacks, in the order in which the stacks began.

    ``table`` has this round's cards in the order in which they were placed. The last ``new`` of them were
    placed in this turn. ``kept`` is the number of puddings from earlier rounds.
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
    """Set the points of a kind's stack, for kinds that score only at the end of a round or game.

    ``laid`` are a table's stacks. For maki, ``card`` may be any kind of maki.
    """
    found = next(
        (number for number, stack in enumerate(laid) if _family(stack.cards[0]) is _family(card)), None
    )
    if found is None or not points:
        return tuple(laid)
    stack = laid[found]
    return (*laid[:found], Stack(stack.cards, stack.new, points, stack.rolls), *laid[found + 1 :])


def _stack_for(card: Card, laid: Sequence[Sequence[Card]]) -> int | None:
    """Return the index of the stack that a card joins, or None if it begins one."""
    if card in NIGIRI_POINTS and [Card.WASABI] in laid:
        return laid.index([Card.WASABI])
    for number, stack in enumerate(laid):
        if _family(stack[0]) is _family(card) and len(stack) < _MAX_STACK.get(card, len(stack) + 1):
            return number
    return None


def _family(card: Card) -> Card:
    """Return the kind that represents all kinds stacked with this one."""
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


@dataclass(frozen=True, slots=True)
class SeatStanding:
    """The points in a frame, one entry per participant."""

    # Points from finished rounds, and the certain points from this round. Maki, soy sauce and puddings count
    # once they have been scored.
    scores: tuple[int, ...]
    gains: tuple[int, ...]  # points gained in this frame
    players: int  # number of participants, excluding the dummy

    @property
    def leaders(self) -> frozenset[int]:
        """The players with the most points; none if all are equal."""
        scores = self.scores[: self.players]
        if min(scores) == max(scores):
            return frozenset()
        return frozenset(seat for seat, score in enumerate(scores) if score == max(scores))


def standing(film: Film, frame: Frame) -> SeatStanding:
    """Return the points in a frame."""
    scores = film.step(frame).moment.state.scores
    certain = [_sums(scores, points) for points in film.certain_points(frame)]
    scored = _sums(scores, film.replay.rounds[frame.round - 1].scores)
    before, now = {
        FilmStage.PICK: (certain[0], certain[0]),
        FilmStage.REVEAL: (certain[0], certain[1]),
        FilmStage.PASS: (certain[1], certain[1]),
        FilmStage.SCORE: (certain[1], scored),
        FilmStage.END: (scored, film.replay.totals),
    }[frame.stage]
    gains = tuple(after - earlier for earlier, after in zip(before, now, strict=True))
    return SeatStanding(tuple(now), gains, film.rules.players)


def _sums(scores: Sequence[int], points: Sequence[int]) -> list[int]:
    return [score + more for score, more in zip(scores, points, strict=True)]
