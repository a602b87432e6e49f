"""The site: leaderboard, games and replays, read from the store; people's accounts, kept in it.

``python -m web`` serves it: no Docker, no bots, no matches run here.
"""

from web.app import Parts, create_app

__all__ = ["Parts", "create_app"]
