"""Games that are being played, as far as they may be seen."""

from tests.db.every_table import matches


def rows() -> dict[str, list[dict[str, object]]]:
    """Return the row of a game of the match that runs."""
    return {
        "live_game": [
            {
                "match_id": matches.RUNNING.id,
                "game": 0,
                "attempt": 2,
                "rounds": 1,
                "disclosed": '{"format": "kaiten-live/1"}',
            }
        ]
    }
