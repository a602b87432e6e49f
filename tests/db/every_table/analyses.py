"""What the analyst says of games."""

from collections.abc import Sequence

from tests.db.every_table.games import Game


def rows(games: Sequence[Game]) -> dict[str, list[dict[str, object]]]:
    """Return the row of the first rated game."""
    game = next(game for game in games if game.number is not None)
    return {
        "analysis": [
            {
                "game_number": game.number,
                "analyst": "playouts",
                "version": 2,
                "playouts": 800,
                "document": b"\x78\x9c\x03\x00\x00\x00\x00\x01",
            }
        ],
        "costly_decision": [
            {
                "game_number": game.number,
                "round": 2,
                "turn": 7,
                "seat": 1,
                "version_id": game.versions[1],
                "lost_chance": 0.4,
                "lost_points": -3.25,
                "played": ["sashimi", "pudding"],
                "best": ["maki_2"],
            }
        ],
        "puzzle": [
            {
                "day": "2026-11-04",
                "game_number": game.number,
                "round": 2,
                "turn": 7,
                "seat": 1,
                "merit": 0.25,
            }
        ],
    }
