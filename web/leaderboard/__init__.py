"""The leaderboard, head-to-head table, calibration and badges."""
