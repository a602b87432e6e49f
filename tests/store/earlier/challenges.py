"""Matches that somebody asked for."""

from tests.store.earlier.bots import CHEAT
from tests.store.earlier.matches import CHALLENGED
from tests.store.earlier.moments import at
from tests.store.earlier.people import ANN


def rows() -> dict[str, list[dict[str, object]]]:
    """Return the row of a challenge."""
    return {
        "challenge": [
            {
                "number": 1,
                "id": "challenge",
                "account_id": ANN,
                "version_id": CHEAT.id,
                "set_number": CHALLENGED.number,
                "created": at(80),
            }
        ]
    }
