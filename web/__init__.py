"""The site: leaderboard, games and replays, read from the store.

``python -m web`` serves it. It reads results and nothing else: no Docker, no
bots, no matches run here.
"""

from web.app import create_app

__all__ = ["create_app"]
