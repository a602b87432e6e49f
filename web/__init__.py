"""The site: leaderboard, games and replays, and accounts. ``python -m web`` serves it."""
