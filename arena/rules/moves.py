"""Which choices are legal.

Source: the sections "Course of a game", "Chopsticks" and "Variants" of
docs/rules.md.
"""

from typing import Final

from arena.rules.cards import Card, Hand, Table
from arena.rules.errors import IllegalMove
from arena.rules.state import Move

_CHOPSTICKS: Final = Card.CHOPSTICKS

# Made once: a game lists some thousand moves, nearly all of them without a card for the dummy.
_ONE: Final = {card: Move((card,)) for card in Card}
_TWO: Final = {first: {second: Move((first, second)) for second in Card} for first in Card}


def legal_moves(hand: Hand, table: Table, *, control: bool) -> tuple[Move, ...]:
    """Return every legal choice once.

    Args:
        hand: The hand; in control of the dummy with the drawn card in it.
        table: What lies in front of the player from earlier turns.
        control: Whether the player names the dummy's card too.
    """
    kinds = dict.fromkeys(hand)
    moves = [_ONE[card] for card in kinds]
    if _CHOPSTICKS in table and len(hand) >= 2 + control:
        moves += [
            _TWO[first][second]
            for first in kinds
            for second in kinds
            if first is not second or hand.count(first) > 1
        ]
    if control:
        moves = [Move(cards, dummy) for cards, _ in moves for dummy in dict.fromkeys(_without(hand, *cards))]
    return tuple(moves)


def check_move(seat: int, hand: Hand, table: Table, move: Move, *, control: bool) -> None:
    """Refuse an illegal choice.

    Args:
        seat: Named in the error.
        hand: As for :func:`legal_moves`.
        table: As for :func:`legal_moves`.
        move: The choice.
        control: As for :func:`legal_moves`.

    Raises:
        IllegalMove: A rule forbids it.
    """
    cards, dummy = move
    if len(cards) == 2:  # noqa: PLR2004 - one, or two with chopsticks
        _check_chopsticks(seat, hand, table, control=control)
    elif len(cards) != 1:
        raise IllegalMove(
            "Course of a game", seat, f"{len(cards)} cards named: it is one, or two with chopsticks"
        )
    if control is (dummy is None):
        what = "in control, but no card named for the dummy"
        if not control:
            what = "a card named for the dummy without control of it"
        raise IllegalMove("Variants: two players with a dummy", seat, what)
    named = cards if dummy is None else (*cards, dummy)
    for card in named:
        if named.count(card) > hand.count(card):
            raise IllegalMove("Course of a game", seat, _missing(hand, card, named.count(card)))


def _check_chopsticks(seat: int, hand: Hand, table: Table, *, control: bool) -> None:
    if _CHOPSTICKS not in table:
        raise IllegalMove("Chopsticks", seat, "two cards named without chopsticks from an earlier turn")
    if len(hand) < 2 + control:
        raise IllegalMove("Chopsticks", seat, f"two cards named with {len(hand)} in the hand")


def _missing(hand: Hand, card: Card, times: int) -> str:
    wanted = card.label if times == 1 else f"{times} {card.label}"
    return f"{wanted} named, but the hand is {', '.join(held.label for held in hand)}"


def _without(hand: Hand, *cards: Card) -> list[Card]:
    rest = list(hand)
    for card in cards:
        rest.remove(card)
    return rest
