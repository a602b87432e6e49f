"""The runtime that runs bots in Docker containers."""
