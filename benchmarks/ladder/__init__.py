"""Simulated ladders that measure how well ratings, and their intervals, reflect the true order of bots."""
