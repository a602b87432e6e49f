"""Simulated ladders that measure how well ratings find the true order of bots, and their intervals."""
