"""A noisy neighbour that plays its first card, while eight other processes use all its processor time."""

import os

from arena.sdk import Card, View, run


def choose(view: View) -> Card:
    """Play the first card."""
    return view.hand[0]


if __name__ == "__main__":
    for _ in range(8):
        if os.fork() == 0:
            while True:
                pass
    run(choose)
