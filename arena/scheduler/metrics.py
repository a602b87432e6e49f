"""Metrics of coordinators and workers. Reasons for failures are not labels: their number is unbounded."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from arena.db.errors import StoreError
from arena.db.matches import FinishedMatch
from arena.db.subscriptions import SubscriptionKind
from arena.protocol.match import WorkerStatus
from arena.protocol.states import MatchKind, MatchState
from arena.scheduler.settling import AttemptFailed, LeasesRenewed, MatchEvent, MatchStarted, ResultDropped

if TYPE_CHECKING:  # imports an optional dependency
    from arena.scheduler.cluster.host import MatchRunner

_MATCH_SECONDS: Final = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 3600.0)
_LAUNCH_SECONDS: Final = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0)


class Outcome(StrEnum):
    """The outcome of an attempt to play a match."""

    FINISHED = "finished"
    VOID = "void"
    """The arena failed; the match is requeued."""
    LOST = "lost"
    """The worker, the coordinator or the engine failed; the match is requeued."""
    QUARANTINED = "quarantined"
    """The match was void or lost too often."""


class MatchMetrics:
    """Counts match events.

    Each attempt is counted once, by the coordinator that recorded its end in the database.

    ``clock`` is monotonic, and ``now`` returns Unix time; both are in seconds.
    """

    def __init__(
        self, registry: CollectorRegistry, clock: Callable[[], float], now: Callable[[], float]
    ) -> None:
        self._clock = clock
        self._now = now
        self._started_at: dict[tuple[str, int], float] = {}
        self._matches = Counter(
            "kaiten_matches", "Match attempts that have ended.", ("outcome",), registry=registry
        )
        self._dropped = Counter(
            "kaiten_dropped_results",
            "Results that arrived after their attempt was over, and were not stored.",
            registry=registry,
        )
        self._games = Counter("kaiten_games", "Stored games, rated or not.", registry=registry)
        self._seconds = Histogram(
            "kaiten_match_seconds",
            "Time from claiming a match to storing its result.",
            buckets=_MATCH_SECONDS,
            registry=registry,
        )
        self._launch = Histogram(
            "kaiten_launch_seconds",
            "Time to start a match's sandboxes.",
            buckets=_LAUNCH_SECONDS,
            registry=registry,
        )
        self._renewals = Counter("kaiten_lease_renewals", "Renewed leases.", registry=registry)
        self._expiries = Counter(
            "kaiten_lease_expiries", "Expired leases, whichever coordinator held them.", registry=registry
        )
        self._finished = Gauge(
            "kaiten_last_match_timestamp_seconds",
            "Unix time at which a result was last stored; 0 if never since the start.",
            registry=registry,
        )
        self._renewed = Gauge(
            "kaiten_last_lease_renewal_timestamp_seconds",
            "Unix time at which leases were last renewed; 0 if never since the start.",
            registry=registry,
        )
        for outcome in Outcome:  # without an initial 0, Prometheus misses the first increase
            self._matches.labels(outcome.value)

    def record(self, event: MatchEvent) -> None:
        """Count an event."""
        match event:
            case MatchStarted(claim):
                self._started_at[claim.spec.match, claim.spec.attempt] = self._clock()
            case FinishedMatch(match=match, attempt=attempt):
                self._matches.labels(Outcome.FINISHED.value).inc()
                self._games.inc(len(event.games))
                self._seconds.observe(self._clock() - self._started_at.pop((match, attempt)))
                self._launch.observe(event.launch_seconds)
                self._finished.set(self._now())
            case AttemptFailed(match, attempt, lost=lost, quarantined=quarantined):
                self._started_at.pop((match, attempt), None)
                outcome = Outcome.LOST if lost else Outcome.VOID
                self._matches.labels((Outcome.QUARANTINED if quarantined else outcome).value).inc()
            case ResultDropped(match, attempt):  # the attempt was counted when it ended
                self._started_at.pop((match, attempt), None)
                self._dropped.inc()
            case LeasesRenewed(renewed, expired):
                self._renewals.inc(renewed)
                self._expiries.inc(expired)
                self._renewed.set(self._now())


_log = structlog.get_logger()

Queue = Mapping[tuple[MatchState, MatchKind], int]
"""Number of matches by state and kind."""

Notices = Mapping[SubscriptionKind, int]
"""Number of notices waiting for delivery, by kind of subscription."""


@dataclass(frozen=True, slots=True)
class ArenaGauges(Collector):
    """Reads gauges on each scrape. While the database is unavailable, the gauges read from it are missing."""

    queue: Callable[[], Queue]  # may raise StoreError
    workers: Callable[[], Sequence[WorkerStatus]]  # may raise StoreError
    notices: Callable[[], Notices]  # may raise StoreError
    disk_free: Callable[[], int]  # free bytes on the data directory's disk

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Read the gauges."""
        yield _disk(self.disk_free())
        try:
            queue, workers, notices = self.queue(), self.workers(), self.notices()
        except StoreError as error:
            _log.warning("queue metrics unavailable", error=str(error))
            return
        yield _queue(queue)
        yield from _workers(workers)
        yield _notices(notices)


def _queue(queue: Queue) -> GaugeMetricFamily:
    family = GaugeMetricFamily(
        "kaiten_queue_matches", "Waiting, running and quarantined matches.", labels=("state", "kind")
    )
    for (state, kind), count in queue.items():
        family.add_metric((state.value, kind.value), count)
    return family


def _workers(workers: Sequence[WorkerStatus]) -> tuple[GaugeMetricFamily, ...]:
    slots = GaugeMetricFamily(
        "kaiten_worker_slots", "Number of bots that a worker can run.", labels=("worker",)
    )
    busy = GaugeMetricFamily(
        "kaiten_worker_busy_slots",
        "Number of a worker's slots in use at its last heartbeat, including those of sandboxes that could "
        "not be removed.",
        labels=("worker",),
    )
    usable = GaugeMetricFamily(
        "kaiten_worker_usable_slots",
        "Number of bots that a worker may run, given its host's load.",
        labels=("worker",),
    )
    for worker in workers:
        slots.add_metric((worker.name,), worker.seats)
        busy.add_metric((worker.name,), worker.busy)
        usable.add_metric((worker.name,), worker.seats if worker.usable is None else worker.usable)
    return slots, busy, usable


def _notices(waiting: Notices) -> GaugeMetricFamily:
    family = GaugeMetricFamily(
        "kaiten_waiting_notices", "Notifications waiting for delivery.", labels=("kind",)
    )
    for kind, count in waiting.items():
        family.add_metric((kind.value,), count)
    return family


def _disk(free: int) -> GaugeMetricFamily:
    return GaugeMetricFamily("kaiten_disk_free_bytes", "Free bytes on the data directory's disk.", value=free)


@dataclass(frozen=True, slots=True)
class HostGauges(Collector):
    """A worker's metrics; ``disk_free`` returns the number of free bytes on the data directory's disk."""

    runner: "MatchRunner"
    seats: int
    disk_free: Callable[[], int]

    def collect(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        """Yield the current values."""
        matches = CounterMetricFamily(
            "kaiten_host_matches",
            "Match attempts on this host that have ended, whatever happened to their results.",
            labels=("outcome",),
        )
        for outcome, count in self.runner.ended().items():
            matches.add_metric((outcome,), count)
        yield matches
        yield GaugeMetricFamily("kaiten_host_slots", "Number of bots that this host can run.", self.seats)
        busy = sum(self.runner.state().busy.values())
        yield GaugeMetricFamily(
            "kaiten_host_busy_slots",
            "Number of this host's slots in use, including those of sandboxes that could not be removed.",
            busy,
        )
        yield _disk(self.disk_free())
