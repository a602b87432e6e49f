"""The runtime that plays bots in Docker containers."""
