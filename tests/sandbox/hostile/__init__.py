"""Bots that attack the arena, each with the verdict it must get. README.md explains how to write one."""
