"""Bots that attack the channel to the referee."""
