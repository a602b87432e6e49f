"""The extent of a test run: ``make test`` runs a part, ``make soak`` everything."""

import os
from typing import Final

SOAK: Final = bool(os.environ.get("SOAK"))


def many(short: int, soak: int) -> int:
    """Return the number of games, examples or repetitions for this run."""
    return soak if SOAK else short
