"""Draw legal moves with ``random.random()``, whose numbers are the same in every version of Python."""

import random

from arena.rules import Move, View


def choose(view: View) -> Move:
    """Return a random legal move."""
    moves = view.legal_moves()
    return moves[int(random.random() * len(moves))]  # noqa: S311 - a bot's dice
