"""Draws from the legal choices with ``random.random()``, which gives the same in every Python."""

import random

from arena.rules import Move, View


def choose(view: View) -> Move:
    """Return any legal choice."""
    moves = view.legal_moves()
    return moves[int(random.random() * len(moves))]  # noqa: S311 - a bot's dice
