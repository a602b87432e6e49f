"""How much a run plays: ``make test`` a share, ``make soak`` all of it."""

import os
from typing import Final

SOAK: Final = bool(os.environ.get("SOAK"))


def many(short: int, soak: int) -> int:
    """Return how many of something this run has: games, examples, repetitions."""
    return soak if SOAK else short
