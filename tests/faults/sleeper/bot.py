"""Sleeps in each decision."""

import time

from arena.sdk import Card, View, run

SECONDS = 5.0


def choose(view: View) -> Card:
    """Play the first card, late."""
    time.sleep(SECONDS)
    return view.hand[0]


if __name__ == "__main__":
    run(choose, games_at_once=1)
