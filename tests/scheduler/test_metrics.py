"""Tests of a coordinator's metrics."""

from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from arena.db.errors import DatabaseUnavailable
from arena.db.matches import Claim
from arena.db.store import Store
from arena.db.subscriptions import SubscriptionKind
from arena.protocol.match import RuntimeName, WorkerStatus
from arena.protocol.states import MatchKind, MatchState
from arena.scheduler.metrics import ArenaGauges, MatchMetrics
from arena.scheduler.settling import AttemptFailed, LeasesRenewed, MatchStarted, ResultDropped
from tests.db.builders import START, add_bot, add_matches, finished


class Counted:
    """Metrics and the clocks that they use."""

    def __init__(self) -> None:
        self.seconds, self.now = 100.0, 1_000_000.0
        self.registry = CollectorRegistry()
        self.matches = MatchMetrics(self.registry, lambda: self.seconds, lambda: self.now)

    def value(self, name: str, **labels: str) -> float | None:
        """Return the value of a sample."""
        return self.registry.get_sample_value(name, labels)

    def outcomes(self) -> dict[str, float]:
        """Return the number of attempts for each outcome, without zeros."""
        names = ("finished", "void", "lost", "quarantined")
        values = {name: self.value("kaiten_matches_total", outcome=name) or 0 for name in names}
        return {name: value for name, value in values.items() if value}


@pytest.fixture
def store(store: Store) -> Store:
    """Return a store with two waiting matches."""
    add_matches(store, "s", [add_bot(store, name) for name in ("a", "b")])
    return store


@pytest.fixture
def counted() -> Counted:
    """Return new metrics."""
    return Counted()


def claim(store: Store) -> Claim:
    """Claim the next match."""
    found = store.leases.claim("one", "w", START, RuntimeName.DOCKER)
    assert found
    return found


def test_a_match_is_counted_with_its_games_and_its_time(store: Store, counted: Counted) -> None:
    """A match's time runs from its claim to its result. The time its bots took to start is measured too."""
    playing = claim(store)
    counted.matches.record(MatchStarted(playing, "w"))
    counted.seconds += 7
    done = replace(finished(playing, [(1, 2)]), launch_seconds=0.3)
    counted.matches.record(done)
    assert counted.outcomes() == {"finished": 1}
    assert counted.value("kaiten_games_total") == len(done.games)
    assert counted.value("kaiten_match_seconds_sum") == 7
    assert counted.value("kaiten_launch_seconds_sum") == 0.3
    assert counted.value("kaiten_last_match_timestamp_seconds") == 1_000_000


def test_failures_are_counted_by_kind(store: Store, counted: Counted) -> None:
    """Failed attempts, including other coordinators', are counted without a duration."""
    for attempt in (1, 2):
        playing = claim(store)
        counted.matches.record(MatchStarted(playing, "w"))
        store.leases.record_void(playing.spec.match, attempt, "why", START)
        counted.matches.record(
            AttemptFailed(playing.spec.match, attempt, "why", lost=False, quarantined=False)
        )
    counted.matches.record(AttemptFailed("of-another-coordinator", 4, "why", lost=True, quarantined=False))
    counted.matches.record(AttemptFailed("of-another-coordinator", 5, "why", lost=True, quarantined=True))
    counted.matches.record(LeasesRenewed(renewed=3, expired=2))
    assert counted.outcomes() == {"void": 2, "lost": 1, "quarantined": 1}
    assert counted.value("kaiten_match_seconds_count") == 0
    assert counted.value("kaiten_lease_renewals_total") == 3
    assert counted.value("kaiten_lease_expiries_total") == 2


def test_an_attempt_is_counted_once(store: Store, counted: Counted) -> None:
    """An attempt whose lease has expired is lost. A late result counts as dropped, not as another attempt.

    The next attempt has its own duration, even if the loss is reported only after that attempt's start.
    """
    first = claim(store)
    counted.matches.record(MatchStarted(first, "w"))
    store.leases.record_loss(first.spec.match, 1, "its lease expired", START)
    counted.seconds += 40
    second = claim(store)
    assert second.spec.match == first.spec.match
    counted.matches.record(MatchStarted(second, "w"))
    counted.matches.record(
        AttemptFailed(first.spec.match, 1, "its lease expired", lost=True, quarantined=False)
    )
    assert not store.results.record(finished(first, [(1, 2)]))
    counted.matches.record(ResultDropped(first.spec.match, 1))
    counted.seconds += 7
    counted.matches.record(finished(second, [(1, 2)]))
    assert counted.outcomes() == {"lost": 1, "finished": 1}
    assert counted.value("kaiten_dropped_results_total") == 1
    assert counted.value("kaiten_match_seconds_sum") == 7


def test_the_queue_is_read_whenever_the_metrics_are(store: Store, counted: Counted) -> None:
    """Metrics include states and kinds without matches. Without the database the other metrics remain."""
    gone = False

    def queue() -> dict[tuple[MatchState, MatchKind], int]:
        if gone:
            raise DatabaseUnavailable("it is away")
        return store.queue.sizes()

    busy = WorkerStatus(name="w", host="h", seats=5, busy=2)
    counted.registry.register(
        ArenaGauges(
            queue=queue,
            workers=lambda: (busy,),
            notices=lambda: {SubscriptionKind.MAIL: 3},
            disk_free=lambda: 42,
        )
    )

    def matches(state: str, kind: str = "rated") -> float | None:
        return counted.value("kaiten_queue_matches", state=state, kind=kind)

    assert (matches("waiting"), matches("running"), matches("quarantined", "challenge")) == (2, 0, 0)
    playing = claim(store)
    assert (matches("waiting"), matches("running")) == (1, 1)
    for attempt in (1, 2, 3):
        store.leases.record_void(playing.spec.match, attempt, "why", START)
        if attempt < 3:
            assert claim(store).spec.match == playing.spec.match
    assert (matches("waiting"), matches("running"), matches("quarantined")) == (1, 0, 1)
    assert counted.value("kaiten_worker_slots", worker="w") == 5
    assert counted.value("kaiten_worker_busy_slots", worker="w") == 2
    assert counted.value("kaiten_worker_usable_slots", worker="w") == 5
    busy = replace(busy, usable=0)
    assert counted.value("kaiten_worker_usable_slots", worker="w") == 0
    assert counted.value("kaiten_waiting_notices", kind="mail") == 3
    gone = True
    assert matches("waiting") is None
    assert b"kaiten_disk_free_bytes 42" in generate_latest(counted.registry)
