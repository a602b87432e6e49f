"""Plays a random card from its hand. All cards are equally likely."""

from random import random

from arena.sdk import Card, Move, View, run


def choose(view: View) -> Move:
    """Choose one card and, when in control of the dummy, another card for the dummy. Never use chopsticks."""
    hand = list(view.hand)
    card = draw(hand)
    return Move((card,), draw(hand) if view.control else None)


def draw(hand: list[Card]) -> Card:
    """Remove a random card: a kind with three cards in hand is three times as likely as a kind with one."""
    return hand.pop(int(random() * len(hand)))


if __name__ == "__main__":
    run(choose)
