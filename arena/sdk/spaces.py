"""Decisions as arrays and moves as integers, for learning bots; needs NumPy.

An observation is an array of 16-bit integers; :func:`segments` lists its parts. Everything is relative to the
deciding seat: other hands are listed in the direction of passing, and participants are counted from that
seat upwards. As a result, one network can play every seat.

An action is ``first + 13 * second + 13 * 14 * dummy``. ``first`` is the first card's number minus one;
``second`` and ``dummy`` are the numbers of the second card and of the dummy's card, 0 for none.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.rules import Card, Move, Rules, View
from arena.rules.cards import NIGIRI_POINTS
from arena.sdk.helpers import direction, known_hands, unseen_cards

Numbers = NDArray[np.int16]
Mask = NDArray[np.bool_]
Whole = NDArray[np.intp]

KINDS: Final = len(Card)
SECONDS: Final = KINDS + 1
PLAIN: Final = KINDS * SECONDS
"""Actions below this number give the dummy no card."""


class Segment(NamedTuple):
    """A part of an observation."""

    name: str
    start: int
    size: int


def segments(rules: Rules) -> tuple[Segment, ...]:
    """Return the parts of an observation, in order."""
    sizes = [("round", 1), ("turns_left", 1), ("control", 1), ("hand", KINDS)]
    sizes += [(f"known_hand_{passed}", KINDS) for passed in range(1, rules.players)]
    sizes += [("unseen", KINDS)]
    for name in ("own", *(f"other_{number}" for number in range(1, rules.players))):
        sizes += _participant_sizes(name)
    if rules.dummy:
        sizes += _participant_sizes("dummy")
    parts, start = [], 0
    for name, size in sizes:
        parts.append(Segment(name, start, size))
        start += size
    return tuple(parts)


def _participant_sizes(name: str) -> list[tuple[str, int]]:
    return [
        (f"{name}_table", KINDS),
        (f"{name}_free_wasabi", 1),
        (f"{name}_points", 1),
        (f"{name}_puddings", 1),
    ]


def size_of(rules: Rules) -> int:
    """Return the length of an observation."""
    last = segments(rules)[-1]
    return last.start + last.size


def action_count(rules: Rules) -> int:
    """Return the number of actions, legal or not."""
    return PLAIN * SECONDS if rules.dummy else PLAIN


def action_of(move: Move) -> int:
    """Return a move as an action."""
    first, *second = move.cards
    return first - 1 + KINDS * (second[0] if second else 0) + PLAIN * (move.dummy or 0)


def move_of(action: int) -> Move:
    """Return an action as a move. Raises ValueError if no move has this number."""
    if not 0 <= action < PLAIN * SECONDS:
        raise ValueError(f"{action} is not an action: use 0 to {PLAIN * SECONDS - 1}")
    rest, first = divmod(action, KINDS)
    dummy, second = divmod(rest, SECONDS)
    cards = (Card(first + 1), Card(second)) if second else (Card(first + 1),)
    return Move(cards, Card(dummy) if dummy else None)


def legal_actions(view: View) -> Mask:
    """Return a mask of the legal actions, of shape ``[action_count(rules)]``."""
    mask = np.zeros(action_count(view.rules), dtype=np.bool_)
    mask[[action_of(move) for move in view.legal_moves()]] = True
    return mask


def observe(view: View) -> Numbers:
    """Return a seat's observation, of shape ``[size_of(rules)]``."""
    rules, players = view.rules, view.rules.players
    step = direction(view)
    hands = known_hands(view)
    parts: list[Sequence[int]] = [
        (view.round, rules.turns - view.turn + 1, int(view.control)),
        _counts(view.hand),
    ]
    parts += [_counts(hands[(view.seat + passed * step) % players]) for passed in range(1, players)]
    parts.append(_counts(unseen_cards(view)))
    participants = [(view.seat + number) % players for number in range(players)]
    for who in [*participants, *range(players, rules.participants)]:
        table = view.tables[who]
        parts += [_counts(table), (_free_wasabi(table), view.scores[who], view.puddings[who])]
    return np.array([number for part in parts for number in part], dtype=np.int16)


def _counts(cards: Sequence[Card]) -> list[int]:
    counts = [0] * KINDS
    for card in cards:
        counts[card - 1] += 1
    return counts


def _free_wasabi(table: Sequence[Card]) -> int:
    free = 0
    for card in table:
        if card is Card.WASABI:
            free += 1
        elif free and card in NIGIRI_POINTS:
            free -= 1
    return free
