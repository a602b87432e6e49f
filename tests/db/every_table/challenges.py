"""Matches that someone asked for."""

from tests.db.every_table.bots import CHEAT
from tests.db.every_table.matches import CHALLENGED
from tests.db.every_table.moments import at
from tests.db.every_table.people import ANN


def rows() -> dict[str, list[dict[str, object]]]:
    """Return the row of a challenge."""
    return {
        "challenge": [
            {
                "number": 1,
                "id": "challenge",
                "account_id": ANN,
                "version_id": CHEAT.id,
                "deals": len(CHALLENGED.seeds),
                "created": at(80),
            }
        ]
    }
