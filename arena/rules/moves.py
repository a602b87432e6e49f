"""Which choices are legal.

Source: the sections "Course of a game", "Chopsticks" and "Variants" of
docs/rules.md.
"""

from typing import Final

from arena.rules.cards import Card, Hand, Table
from arena.rules.errors import IllegalMove
from arena.rules.state import Move

_CHOPSTICKS: Final = Card.CHOPSTICKS


def legal_moves(hand: Hand, table: Table, *, control: bool) -> tuple[Move, ...]:
    """Return every legal choice once.

    Args:
        hand: The hand; in control of the dummy with the drawn card in it.
        table: What lies in front of the player from earlier turns.
        control: Whether the player names the dummy's card too.
    """
    plays: list[tuple[Card, ...]] = [(card,) for card in dict.fromkeys(hand)]
    if _CHOPSTICKS in table and len(hand) >= 2 + control:
        plays += [
            (first, second)
            for first in dict.fromkeys(hand)
            for second in dict.fromkeys(_without(hand, first))
        ]
    if not control:
        return tuple([Move(cards) for cards in plays])
    return tuple(Move(cards, dummy) for cards in plays for dummy in dict.fromkeys(_without(hand, *cards)))


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
    if len(cards) not in {1, 2}:
        raise IllegalMove(
            "Course of a game", seat, f"{len(cards)} cards named: it is one, or two with chopsticks"
        )
    if len(cards) == 2:  # noqa: PLR2004 - one, or two with chopsticks
        _check_chopsticks(seat, hand, table, control=control)
    if control and dummy is None:
        raise IllegalMove(
            "Variants: two players with a dummy", seat, "in control, but no card named for the dummy"
        )
    if not control and dummy is not None:
        raise IllegalMove(
            "Variants: two players with a dummy", seat, "a card named for the dummy without control of it"
        )
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
