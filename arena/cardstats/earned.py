"""What each placed card earned, where that can be said exactly.

A player's points of a round, and those for the most puddings, are handed out to cards and to nothing else:

- a nigiri gets what it is worth by itself, and the wasabi below it the rest;
- a set is shared by the cards of it: two tempura, three sashimi, up to five dumplings, in the order in which
  they were placed. A card that completes nothing gets nothing;
- points for maki are shared in proportion to icons;
- points for soy sauce, and for the most puddings, are shared by these cards.

The loss for the fewest puddings is no card's: it comes of those that were not taken. Chopsticks earn nothing.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice, repeat
from math import lcm
from typing import Final

from arena.rules import ROUNDS, Card, Play, RoundScore, State
from arena.rules.cards import MAKI_ICONS, NIGIRI_POINTS

_MOST_ICONS: Final = 28
"""Of one player in one round: ten cards, of which eight have three icons."""

POINT: Final = lcm(*range(1, _MOST_ICONS + 1))
"""One point, in the unit in which points of cards are counted: every share of it is a whole number."""

_DUMPLINGS: Final = 5
"""As many make a set."""

Earned = dict[tuple[int, int], tuple[int, ...]]
"""By round and turn: what each card that was placed then earned, in order; unit 1 / ``POINT``."""


def earned(end: State, seat: int) -> Earned:
    """Return what the cards of a seat earned, those that are played by themselves included.

    Args:
        end: Of a game without a dummy.
        seat: From 0.

    Raises:
        ValueError: The game is not over.
    """
    if end.result is None:
        raise ValueError("the game is not over")
    pudding = _each(max(end.result.pudding_scores[seat], 0), end.result.puddings[seat])
    plays: list[list[Play]] = [[] for _ in range(ROUNDS)]
    for turn in end.turns:
        plays[turn.round - 1].append(turn.plays[seat])
    found: Earned = {}
    for number, (placed, scores) in enumerate(zip(plays, end.rounds, strict=True), start=1):
        shares = iter(_round([*chain.from_iterable(placed)], scores[seat], pudding))
        for turn_number, cards in enumerate(placed, start=1):
            found[number, turn_number] = tuple(islice(shares, len(cards)))
    return found


def _round(cards: Sequence[Card], score: RoundScore, pudding: int) -> list[int]:
    """Hand out the points of a round to its cards, in the order of placing."""
    tempura, sashimi = cards.count(Card.TEMPURA), cards.count(Card.SASHIMI)
    dumplings = min(cards.count(Card.DUMPLING), _DUMPLINGS)
    icons = sum(MAKI_ICONS.get(card, 0) for card in cards)
    sets = {
        Card.TEMPURA: _set(score.tempura, tempura - tempura % 2),
        Card.SASHIMI: _set(score.sashimi, sashimi - sashimi % 3),
        Card.DUMPLING: _set(score.dumpling, dumplings),
        Card.SOY_SAUCE: _set(score.soy_sauce, cards.count(Card.SOY_SAUCE)),
        Card.PUDDING: repeat(pudding),
    }
    an_icon = _each(score.maki, icons)
    shares = [next(sets[card]) if card in sets else MAKI_ICONS.get(card, 0) * an_icon for card in cards]
    _add_nigiri(cards, shares)
    return shares


def _add_nigiri(cards: Sequence[Card], shares: list[int]) -> None:
    free_wasabi: list[int] = []
    for place, card in enumerate(cards):
        if card is Card.WASABI:
            free_wasabi.append(place)
        elif value := NIGIRI_POINTS.get(card):
            shares[place] = value * POINT
            if free_wasabi:
                # Three times as much: the wasabi earned the other two.
                shares[free_wasabi.pop(0)] = 2 * value * POINT


def _set(points: int, members: int) -> Iterator[int]:
    """Yield what each card of a kind gets: the members of sets first, the rest nothing."""
    return chain(repeat(_each(points, members), members), repeat(0))


def _each(points: int, members: int) -> int:
    return points * POINT // members if members else 0
