"""Games as far as they may be seen while they are played."""

from tests.store.earlier.matches import RUNNING


def rows() -> dict[str, list[dict[str, object]]]:
    """Return what is seen of the match that runs: of this attempt, and left of the one before."""
    return {
        "live_game": [
            {"match_id": RUNNING.id, "game": game, "attempt": attempt, "rounds": 2, "disclosed": "{}" * 5000}
            for game, attempt in enumerate((2, 1))
        ]
    }
