"""Tests of the leases of claims: renewal, release, expiry and loss."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import replace

import pytest
from sqlalchemy import text

from arena.db.database import Database
from arena.db.leases import LEASE_SECONDS, KnownWorker, database_time
from arena.db.store import Store, open_store
from arena.protocol.match import RuntimeName, WorkerStatus
from arena.protocol.states import MatchState
from arena.protocol.status import RefusedWorker
from tests.db.builders import (
    START,
    SetClock,
    add_bot,
    add_matches,
    claim_one,
    finished,
    run_sql,
    waiting_and_running,
)
from tests.db.test_locks import wait_for_waiting
from tests.kinds import on_both, on_postgresql
from tests.patience import WAIT_SECONDS

HERE = WorkerStatus(name="w1", host="h1", seats=10, busy=4)


@pytest.fixture
def clock() -> SetClock:
    """Return a clock."""
    return SetClock()


@pytest.fixture
def store(url: str, clock: SetClock) -> Iterator[Store]:
    """Create a store with three waiting matches."""
    with closing(open_store(url, clock)) as store:
        versions = [add_bot(store, name) for name in ("a", "b", "c")]
        add_matches(store, "s", versions)
        yield store


def test_a_renewed_lease_lasts(store: Store, clock: SetClock) -> None:
    """A match whose lease isn't renewed is requeued and claimed by another coordinator."""
    kept, left = (claim_one(store, "one") for _ in range(2))
    clock.seconds += LEASE_SECONDS - 1
    assert store.leases.expire(START) == {}
    store.leases.renew("one", [kept.spec.match])
    clock.seconds += 2
    assert store.leases.expire(START) == {(left.spec.match, 1): MatchState.WAITING}
    again = claim_one(store, "two")
    assert (again.spec.match, again.spec.attempt) == (left.spec.match, 2)
    store.leases.renew("one", [left.spec.match])  # too late: its attempt is over
    clock.seconds += LEASE_SECONDS - 1
    assert store.leases.expire(START) == {(kept.spec.match, 1): MatchState.WAITING}


@on_postgresql
def test_a_waiting_result_delays_no_renewal(store: Store, database: Database, clock: SetClock) -> None:
    """While a result's transaction locks one match and waits for the ladder, other leases are renewed."""
    stored, kept = (claim_one(store, "one") for _ in range(2))
    both = [stored.spec.match, kept.spec.match]
    clock.seconds += LEASE_SECONDS - 1
    with ThreadPoolExecutor(1) as thread, database.write() as connection:
        connection.execute(text("SELECT id FROM match WHERE id = :id FOR UPDATE"), {"id": both[0]})
        renewal = thread.submit(store.leases.renew, "one", both)
        done, _ = wait([renewal], timeout=WAIT_SECONDS)
    renewal.result()
    assert done
    clock.seconds += 2
    assert store.leases.expire(START) == {(both[0], 1): MatchState.WAITING}


@on_postgresql
def test_a_locked_worker_delays_no_expiry(store: Store, database: Database, clock: SetClock) -> None:
    """While a coordinator waits for a worker's row, leases that aren't renewed expire."""
    kept, left = (claim_one(store, name) for name in ("one", "two"))
    store.leases.publish_workers("one", [HERE])
    clock.seconds += LEASE_SECONDS - 1
    store.leases.renew("one", [kept.spec.match])
    with ThreadPoolExecutor(1) as thread, database.write() as connection:
        connection.execute(text("SELECT name FROM worker FOR UPDATE"))
        telling = thread.submit(store.leases.publish_workers, "one", [HERE])
        wait_for_waiting(database, 1)
        clock.seconds += 2
        assert list(store.leases.expire(START)) == [(left.spec.match, 1)]
        assert not telling.done()
    telling.result()
    assert [known.coordinator for known in store.leases.workers()] == ["one"]


def test_a_late_result_counts_until_its_expiry_is_noticed(store: Store, clock: SetClock) -> None:
    """A result counts after its lease has ended, as long as no coordinator has noticed the expiry."""
    first, second = (claim_one(store, "one") for _ in range(2))
    clock.seconds += LEASE_SECONDS + 1
    assert store.results.record(finished(first, [(1, 2, 3)]))
    assert list(store.leases.expire(START)) == [(second.spec.match, 1)]
    assert not store.results.record(finished(second, [(1, 2, 3)]))
    again = claim_one(store, "two")
    assert store.results.record(finished(again, [(1, 2, 3)]))
    assert not store.results.record(finished(again, [(1, 2, 3)]))
    assert store.activity.totals().games == 2


def test_leases_of_another_clock_have_expired(store: Store, clock: SetClock) -> None:
    """A host's clock restarts after a reboot, so earlier leases count as expired."""
    claim_one(store)
    clock.seconds, clock.name = 3.0, "after the next start"
    assert list(store.leases.expire(START).values()) == [MatchState.WAITING]


def test_a_running_match_without_a_lease_has_expired(store: Store, url: str) -> None:
    """A running match without a lease is requeued."""
    claim_one(store)
    run_sql(url, "UPDATE match SET leased_until = NULL, lease_clock = NULL")
    assert list(store.leases.expire(START).values()) == [MatchState.WAITING]


def test_a_match_that_is_lost_again_and_again_is_quarantined(store: Store) -> None:
    """More losses than voids are tolerated, but not an unlimited number."""
    match, found = None, None
    for number in range(1, 21):
        claim = claim_one(store)
        assert match in {None, claim.spec.match}
        match = claim.spec.match
        assert store.leases.record_loss(match, claim.spec.attempt + 1, "another's", START) is None
        found = store.leases.record_loss(match, claim.spec.attempt, f"loss {number}", START)
        assert (found is MatchState.QUARANTINED) == (number == 20)
    (aside,) = store.queue.quarantined()
    assert (aside.match, aside.attempts, aside.reason) == (match, 20, "loss 20")


def test_only_own_matches_are_released(store: Store) -> None:
    """A restarted coordinator requeues only its own matches, and no void is counted."""
    for coordinator in ("one", "two", "two"):
        claim_one(store, coordinator)
    assert store.leases.release("two") == 2
    assert store.leases.release("two") == 0
    assert waiting_and_running(store) == (2, 1)


@on_both
def test_a_match_is_claimed_only_if_there_is_room(store: Store) -> None:
    """A claim returns nothing if the next match needs more seats than are free."""
    assert store.leases.due(RuntimeName.DOCKER) == 3
    assert store.leases.claim("one", "w", START, RuntimeName.DOCKER, max_seats=2) is None
    assert store.leases.claim("one", "w", START, RuntimeName.DOCKER, max_seats=3)
    assert store.leases.due(RuntimeName.PROCESS) is None


@on_both
def test_workers_are_listed_while_they_are_heard_of(store: Store, clock: SetClock) -> None:
    """A worker is listed until its coordinator exits or is silent for longer than a lease."""
    store.leases.publish_workers("one", [HERE])
    store.leases.publish_workers("two", [HERE])
    assert store.leases.workers() == (KnownWorker("one", HERE), KnownWorker("two", HERE))
    store.leases.release("two")
    clock.seconds += LEASE_SECONDS - 1
    assert store.leases.workers() == (KnownWorker("one", HERE),)
    store.leases.publish_workers("two", [])
    clock.seconds += 2
    assert store.leases.workers() == ()


@on_both
def test_refused_workers_are_listed_while_they_are_heard_of(store: Store, clock: SetClock) -> None:
    """Refused workers are listed separately, unless they have joined since."""
    refused = RefusedWorker(name="there", host="h", reason="another version", since=START)
    store.leases.publish_workers("one", [HERE], [refused, replace(refused, name=HERE.name)])
    assert store.leases.workers() == (KnownWorker("one", HERE),)
    assert store.leases.refused() == (refused,)
    clock.seconds += LEASE_SECONDS + 1
    assert store.leases.refused() == ()
    store.leases.publish_workers("one", [], [refused])
    store.leases.release("one")
    assert store.leases.refused() == ()


@on_both
def test_the_databases_own_clock_goes_on(database: Database) -> None:
    """The database's clock never goes back."""
    with database.read() as connection:
        first, second = (database_time(connection) for _ in range(2))
    assert first.clock == second.clock
    assert first.seconds <= second.seconds
