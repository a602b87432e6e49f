"""Games of people."""

from tests.db.every_table.bots import CHEAT
from tests.db.every_table.moments import at
from tests.db.every_table.people import ANN


def rows() -> dict[str, list[dict[str, object]]]:
    """Return the row of a game that is over."""
    return {
        "person_game": [
            {
                "number": 1,
                "id": "5" * 32,
                "visitor": "6" * 64,
                "account_id": ANN,
                "state": "over",
                "rules": '{"players":2,"pass_both_ways":false,"soy_sauce":false,"dummy":false}',
                "opponents": [CHEAT.id],
                "seat": 1,
                "created": at(90),
                "seen": at(91),
                "ended": at(92),
                "asked": None,
                "chosen": None,
                "replay": "{}",
                "analysis": b"\x78\x9c\x03\x00\x00\x00\x00\x01",
                "trouble": None,
            }
        ]
    }
