"""The extent of a run: ``make test`` runs a part, ``make soak`` everything."""

import os
from typing import Final

SOAK: Final = bool(os.environ.get("SOAK"))


def many(short: int, soak: int) -> int:
    """Return this run's number of games, examples or repetitions."""
    return soak if SOAK else short
