"""The time in which a referee was there to hear its bots."""

from collections.abc import Callable
from typing import Final

STANDSTILL_SECONDS: Final = 0.25
"""Whoever was not asked for the time for so long did not run: the referee asks every 0.05 s."""


class AttendedTime:
    """A clock that stands still while nobody looks at it.

    After a pause of the host, or of the process, every deadline has passed, although the answers may have
    come in time. What it missed is no bot's time.

    Args:
        now: A monotonic clock, in seconds.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._seen = now()
        self._missed = 0.0

    def __call__(self) -> float:
        """Return seconds since some moment, without those that were missed."""
        now = self._now()
        since = now - self._seen
        if since > STANDSTILL_SECONDS:
            self._missed += since
        self._seen = now
        return now - self._missed
