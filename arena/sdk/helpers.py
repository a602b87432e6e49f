"""Helpers for bots: what a view implies about hands that the bot has seen, and about unseen cards."""

from collections import Counter

from arena.rules import Card, Hand, Turn, View, unplayed_cards
from arena.rules.state import seat_in_control


def direction(view: View) -> int:
    """Return 1 if hands go to the next seat in this round, -1 if they go to the previous one."""
    return view.rules.direction(view.round)


def known_hands(view: View) -> tuple[Hand, ...]:
    """Return the seat's own hand and the hands that it has passed on, in seat order.

    Cards that others have since taken from them are left out. All other hands are empty here, even if some of
    their cards can be inferred. With a dummy, the opponent in control holds one more card: the drawn one.
    """
    players, step = view.rules.players, direction(view)
    hands: list[Hand] = [()] * players
    hands[view.seat] = view.hand
    for passed in range(1, min(players - 1, len(view.past_hands)) + 1):
        # Seen `passed` turns ago. Since then this seat and the following seats have each taken from it.
        hand = Counter(view.past_hands[-passed])
        for nth, turn in enumerate(view.turns[-passed:]):
            _take(hand, turn, (view.seat + nth * step) % players, view)
        hands[(view.seat + passed * step) % players] = tuple(sorted(hand.elements()))
    return tuple(hands)


def unseen_cards(view: View) -> tuple[Card, ...]:
    """Return the cards that are neither on a table, nor played in earlier rounds, nor in a known hand.

    Most of them are in hands that this seat has not seen, in the dummy's pile, or undealt. Their order is
    that of ``DECK_COUNTS``.
    """
    cards = unplayed_cards(view.rules, view.turns)
    for hand in known_hands(view):
        cards.subtract(hand)
    return tuple(cards.elements())


def _take(hand: "Counter[Card]", turn: Turn, seat: int, view: View) -> None:
    """Remove the cards that a seat placed, and put back the chopsticks that it used."""
    play = turn.plays[seat]
    hand.subtract(play)
    if len(play) > 1:
        hand[Card.CHOPSTICKS] += 1
    if view.rules.dummy and seat == seat_in_control(view.rules, turn.round, turn.turn):
        hand.subtract(turn.plays[-1])
