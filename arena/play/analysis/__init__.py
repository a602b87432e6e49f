"""Estimates each seat's chances in a recorded game, and the cost of each decision."""
