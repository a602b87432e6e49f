"""The leaderboard, badges and the front page."""
