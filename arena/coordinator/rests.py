"""How long matches rest that failed for a fault of the arena, and how long all of them do."""

from dataclasses import dataclass
from typing import Final

_MOST_MATCHES: Final = 100
"""So many are kept in mind, those that failed last; the others may come again at once."""

_MOST_DOUBLINGS: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Rests:
    """Seconds.

    Attributes:
        first: A match rests after it has failed for the first time.
        second: It rests after it has failed again.
        least: Half of what all matches rest after one has failed; twice that after two in a row, and so on.
        most: All matches rest at a time.
    """

    first: float = 2.0
    second: float = 10.0
    least: float = 0.25
    most: float = 15.0


RESTS: Final = Rests()
"""What spoils matches is often over in some seconds, and must not have put them all aside by then."""


class Resting:
    """What rests now. Moments are seconds of one clock.

    Args:
        rests: For how long.
    """

    def __init__(self, rests: Rests) -> None:
        self._rests = rests
        self._until = 0.0
        self._failed: dict[str, tuple[int, float]] = {}
        """How often each match has failed, and until when it rests; the last one last."""

    def fail(self, match: str, in_a_row: int, now: float) -> None:
        """Let a match rest that has failed and waits again, and all for a while.

        Args:
            match: Its id.
            in_a_row: So many have failed since one was last played, this one included.
            now: The moment.
        """
        times = self._failed.pop(match, (0, 0.0))[0] + 1
        self._failed[match] = (times, now + (self._rests.first if times == 1 else self._rests.second))
        if len(self._failed) > _MOST_MATCHES:
            del self._failed[next(iter(self._failed))]
        rest = self._rests.least * 2 ** min(in_a_row, _MOST_DOUBLINGS)
        self._until = now + min(rest, self._rests.most)

    def forget(self, match: str) -> None:
        """A match does not wait any more."""
        self._failed.pop(match, None)

    def play(self, match: str) -> None:
        """A match was played: what keeps the others from it is over."""
        self.forget(match)
        self._until = 0.0

    def all_rest(self, now: float) -> bool:
        """Tell whether no match is to begin yet."""
        return now < self._until

    def matches(self, now: float) -> tuple[str, ...]:
        """Return the ids of the matches that rest still."""
        return tuple(match for match, (_, until) in self._failed.items() if now < until)
