"""Backoff after arena faults: per match, and for all matches."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from arena.platform.recurring import Backoff

_MOST_MATCHES: Final = 100
"""Number of latest failed matches that have a backoff. Older ones may be retried immediately."""

_ONE: Final = Backoff(first=2.0, most=10.0, factor=5.0)
_EVERY: Final = Backoff(first=0.5, most=15.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryDelays:
    """Backoffs after arena faults."""

    one: Backoff = _ONE  # of a match, by its own failures
    every: Backoff = _EVERY  # of all matches, by failures since a match was last played


RETRY_DELAYS: Final = RetryDelays()
"""Host failures often pass within seconds, and must not quarantine every match before then."""


class MatchBackoff:
    """Tracks the matches in backoff. Times are seconds of one clock."""

    def __init__(self, delays: RetryDelays) -> None:
        self._delays = delays
        self._until = 0.0
        self._failed: dict[str, tuple[int, float]] = {}
        """Failures and end of backoff by match, latest failure last."""

    def fail(self, match: str, in_a_row: int, now: float) -> None:
        """Start the backoff of a failed match and of all matches.

        ``in_a_row`` counts failures since a match was last played, this one included.
        """
        times = self._failed.pop(match, (0, 0.0))[0] + 1
        self._failed[match] = (times, now + self._delays.one.after(times))
        if len(self._failed) > _MOST_MATCHES:
            del self._failed[next(iter(self._failed))]
        self._until = now + self._delays.every.after(in_a_row)

    def forget(self, match: str) -> None:
        """Forget a match that is no longer queued."""
        self._failed.pop(match, None)

    def play(self, match: str) -> None:
        """A match was played: end the backoff of all matches."""
        self.forget(match)
        self._until = 0.0

    def holds_all(self, now: float) -> bool:
        """Return True if no match may start yet."""
        return now < self._until

    def matches(self, now: float) -> tuple[str, ...]:
        """Return the ids of the matches in backoff."""
        return tuple(match for match, (_, until) in self._failed.items() if now < until)


VOIDS_IN_A_ROW: Final = 10
"""After this many arena faults in a row, with no match played in between, the matches are not the cause."""


class VoidsInARow:
    """Counts arena faults since a match was last played."""

    def __init__(self) -> None:
        self._count = 0
        self._in_all: frozenset[str] = frozenset()
        self._workers: frozenset[str] = frozenset()

    @property
    def count(self) -> int:
        """The number of faults."""
        return self._count

    def too_many(self, workers: int) -> bool:
        """Return True if the arena must stop for repair, given the number of workers.

        If one bot, or one of several workers, causes all faults, the arena continues. An image that the host
        can't start only gets its own matches quarantined, and other workers repeat the matches that one
        worker voided.
        """
        one_of_several = workers > 1 and len(self._workers) == 1
        return self._count >= VOIDS_IN_A_ROW and not (self._in_all or one_of_several)

    def add(self, submitted: Collection[str], worker: str) -> None:
        """Count a failed match, given the sources of its submitted bots and its worker."""
        self._in_all = frozenset(submitted) & (self._in_all if self._count else frozenset(submitted))
        self._workers |= {worker}
        self._count += 1

    def reset(self) -> None:
        """Reset after a played match."""
        self._count = 0
        self._workers = frozenset()
