"""When a bot has to sit out: its last games keep failing. Pure.

A bot that is gone in most of its games spoils them for the others and tells nothing about its skill.
"""

from collections.abc import Sequence
from typing import Final

LAST: Final = 10
"""Rated games that are looked at, of the version that plays and since it last came back."""

MOST: Final = 5
"""With so many of them played to the end by the stand-in, a bot is benched."""


def keeps_failing(taken_over: Sequence[bool]) -> bool:
    """Return whether a bot is to be benched.

    Args:
        taken_over: Of its last games, ``LAST`` at most, whether the stand-in played them to the end.
    """
    return sum(taken_over[-LAST:]) >= MOST


def reason(taken_over: Sequence[bool], last: str) -> str:
    """Return why it was benched, in words for everybody.

    Args:
        taken_over: As :func:`keeps_failing`.
        last: What happened the last time.
    """
    looked_at = taken_over[-LAST:]
    return (
        f"the stand-in had to play {sum(looked_at)} of its last {len(looked_at)} rated games to the end; "
        f"the last time: {last}"
    )
