"""What a bot can work out from what it has seen.

Everything here follows from a view alone: the hands that this seat has passed
on, and the turns that were revealed since.
"""

from collections import Counter

from arena.rules import Card, Hand, Turn, View, unshuffled_deck


def direction(view: View) -> int:
    """Return 1 where hands go to the next seat in this round, -1 where they go to the one before."""
    return -1 if view.rules.pass_both_ways and view.round == 2 else 1  # noqa: PLR2004 - the rule's own number


def known_hands(view: View) -> tuple[Hand, ...]:
    """Return the cards that are known to be in every seat's hand now, in seat order.

    The own hand is known. One that this seat passed on is known but for what
    the others took from it, which was revealed. All others are empty here.
    With a dummy the opponent in control holds one card more: the drawn one.
    """
    players, step = view.rules.players, direction(view)
    hands: list[Hand] = [()] * players
    hands[view.seat] = view.hand
    for passed in range(1, min(players - 1, len(view.past_hands)) + 1):
        # Seen so many turns ago; since then this seat and the ones after it each took from it.
        hand = Counter(view.past_hands[-passed])
        for nth, turn in enumerate(view.turns[-passed:]):
            _take(hand, turn, (view.seat + nth * step) % players, view)
        hands[(view.seat + passed * step) % players] = tuple(sorted(hand.elements()))
    return tuple(hands)


def unseen_cards(view: View) -> tuple[Card, ...]:
    """Return the cards that are neither on a table, nor played in earlier rounds, nor in a known hand.

    They are in the hands that this seat has not seen, in the dummy's pile and
    in the draw pile, in the order of the table of kinds.
    """
    cards = Counter(unshuffled_deck(view.rules))
    for turn in view.turns:
        for player, play in enumerate(turn.plays):
            cards.subtract(play)
            if len(play) > 1 and player < view.rules.players:
                cards[Card.CHOPSTICKS] += 1
    for hand in known_hands(view):
        cards.subtract(hand)
    return tuple(cards.elements())


def _take(hand: "Counter[Card]", turn: Turn, seat: int, view: View) -> None:
    """Take out what that seat placed, and put its chopsticks back."""
    play = turn.plays[seat]
    hand.subtract(play)
    if len(play) > 1:
        hand[Card.CHOPSTICKS] += 1
    if view.rules.dummy and seat == ((turn.round - 1) * view.rules.turns + turn.turn - 1) % 2:
        hand.subtract(turn.plays[-1])
