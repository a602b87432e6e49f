"""What a coordinator counts of its matches, for Prometheus. No reason is a label: there is no end of them."""

from collections.abc import Callable
from enum import StrEnum
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from arena.store import Claim, FinishedMatch

_MATCH_SECONDS: Final = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 3600.0)
_LAUNCH_SECONDS: Final = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0)


class Outcome(StrEnum):
    """What became of an attempt to play a match."""

    FINISHED = "finished"
    VOID = "void"
    """A fault of the arena; it waits again."""
    LOST = "lost"
    """Nothing more was heard of who played it; it waits again."""
    QUARANTINED = "quarantined"
    """One of the two, too often."""


class MatchMetrics:
    """Counts; see :class:`arena.coordinator.watcher.Watcher`.

    An attempt is over once, whatever comes of it later: whoever ended it in the database counts it.

    Args:
        registry: Takes in what is counted.
        clock: Seconds, monotonic.
        now: Seconds since 1970.
    """

    def __init__(
        self, registry: CollectorRegistry, clock: Callable[[], float], now: Callable[[], float]
    ) -> None:
        self._clock = clock
        self._now = now
        self._begun: dict[tuple[str, int], float] = {}
        self._matches = Counter(
            "kaiten_matches", "Attempts to play a match that are over.", ("outcome",), registry=registry
        )
        self._dropped = Counter(
            "kaiten_dropped_results",
            "What came of attempts that were over before, and was not stored.",
            registry=registry,
        )
        self._games = Counter(
            "kaiten_games", "Games that were played and stored, rated or not.", registry=registry
        )
        self._seconds = Histogram(
            "kaiten_match_seconds",
            "From the claim of a match until its result is stored.",
            buckets=_MATCH_SECONDS,
            registry=registry,
        )
        self._launch = Histogram(
            "kaiten_launch_seconds",
            "To start the sandboxes of a match.",
            buckets=_LAUNCH_SECONDS,
            registry=registry,
        )
        self._renewals = Counter("kaiten_lease_renewals", "Leases that were renewed.", registry=registry)
        self._expiries = Counter(
            "kaiten_lease_expiries", "Leases that had run out, of any coordinator.", registry=registry
        )
        self._finished = Gauge(
            "kaiten_last_match_timestamp_seconds",
            "When a result was last stored; 0 before the first.",
            registry=registry,
        )
        self._renewed = Gauge(
            "kaiten_last_lease_renewal_timestamp_seconds",
            "When a sign of life was last given; 0 before the first.",
            registry=registry,
        )
        for outcome in Outcome:  # a rate is not seen to rise from nothing
            self._matches.labels(outcome.value)

    def on_started(self, claim: Claim, worker: str) -> None:  # noqa: ARG002 - as watchers have it
        """Take the time."""
        self._begun[claim.spec.match, claim.spec.attempt] = self._clock()

    def on_finished(self, match: FinishedMatch) -> None:
        """Count it."""
        self._matches.labels(Outcome.FINISHED.value).inc()
        self._games.inc(len(match.games))
        self._seconds.observe(self._clock() - self._begun.pop((match.match, match.attempt)))
        self._launch.observe(match.launch_seconds)
        self._finished.set(self._now())

    def on_voided(self, match: str, attempt: int, reason: str, *, quarantined: bool) -> None:  # noqa: ARG002 - as watchers have it
        """Count it."""
        self._over(match, attempt, Outcome.QUARANTINED if quarantined else Outcome.VOID)

    def on_lost(self, match: str, attempt: int, reason: str, *, quarantined: bool) -> None:  # noqa: ARG002 - as watchers have it
        """Count it; it may be another coordinator's."""
        self._over(match, attempt, Outcome.QUARANTINED if quarantined else Outcome.LOST)

    def on_dropped(self, match: str, attempt: int) -> None:
        """Count it, but not its attempt: whoever ended that did."""
        self._begun.pop((match, attempt), None)
        self._dropped.inc()

    def on_leases_kept(self, renewed: int, expired: int) -> None:
        """Count them."""
        self._renewals.inc(renewed)
        self._expiries.inc(expired)
        self._renewed.set(self._now())

    def _over(self, match: str, attempt: int, outcome: Outcome) -> None:
        self._begun.pop((match, attempt), None)
        self._matches.labels(outcome.value).inc()
