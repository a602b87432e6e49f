"""How often in a row a host could play nothing, and for how long it is left alone after that."""

from typing import Final

_FIRST_SECONDS: Final = 1.0
_MOST_SECONDS: Final = 30.0
_MOST_DOUBLINGS: Final = 5


class Setbacks:
    """Counts the times since a match was last played; each doubles the pause, up to half a minute.

    What looks as if it could play, and can't, would otherwise lose match after match. Moments are seconds of
    one clock.
    """

    def __init__(self) -> None:
        self._count = 0
        self._until = 0.0

    def add(self, now: float) -> None:
        """Count one more."""
        self._until = now + min(_FIRST_SECONDS * 2 ** min(self._count, _MOST_DOUBLINGS), _MOST_SECONDS)
        self._count += 1

    def reset(self) -> None:
        """A match has been played."""
        self._count = 0

    def are_over(self, now: float) -> bool:
        """Tell whether the pause after the last one has passed."""
        return now >= self._until
