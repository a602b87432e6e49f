"""Bots that attack the arena, each with the verdict it must get. README.md says how an attack is written."""
