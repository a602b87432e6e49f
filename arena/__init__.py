"""Kaiten: an arena where Sushi Go! bots in containers play rated games."""

__version__ = "0.1.0"
