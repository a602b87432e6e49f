"""Ratings, ranks, match-making, qualification and card statistics. Does no I/O."""
