"""Bots that attack the system they run on."""
