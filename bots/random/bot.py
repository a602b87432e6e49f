"""Plays a random card of its hand, each with the same chance."""

from random import random

from arena.sdk import Card, Move, View, run


def choose(view: View) -> Move:
    """Choose one card and, in control of the dummy, another card for it. Never use chopsticks."""
    hand = list(view.hand)
    card = draw(hand)
    return Move((card,), draw(hand) if view.control else None)


def draw(hand: list[Card]) -> Card:
    """Remove a random card, so three tempura are three times as likely as one."""
    return hand.pop(int(random() * len(hand)))


if __name__ == "__main__":
    run(choose)
