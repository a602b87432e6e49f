"""Ratings, ranks, matchmaking, qualification and card statistics. Does no I/O."""
