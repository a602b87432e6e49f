"""Tests of rate limits: windows, counters, and concurrent attempts."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text

from arena.db import rate_limits
from arena.db.database import Database
from arena.db.rate_limits import RateLimit
from arena.db.store import Store
from tests.db.builders import START, present
from tests.kinds import on_both


def limit(key: str, max_attempts: int, minutes: int = 15) -> RateLimit:
    """Return a rate limit."""
    return RateLimit(key=key, max_attempts=max_attempts, window=timedelta(minutes=minutes))


def test_attempts_are_counted_in_windows(store: Store) -> None:
    """A window begins with the first attempt. A full one gives the wait, and marks the first refusal."""
    few = limit("a", 2)
    assert [store.rate_limits.count((few,), START) for _ in range(2)] == [None, None]
    later = START + timedelta(minutes=5)
    first, second = (present(store.rate_limits.count((few,), later)) for _ in range(2))
    assert (first.limit, first.wait, first.is_first) == (few, timedelta(minutes=10), True)
    assert second == replace(first, is_first=False)
    again = START + timedelta(minutes=15)
    assert [store.rate_limits.count((few,), again) is None for _ in range(3)] == [True, True, False]


def test_a_refused_attempt_counts_no_further(store: Store) -> None:
    """Limits are checked in order. An attempt that the first limit refuses doesn't count for the second."""
    own, common = limit("own", 1), limit("common", 2)
    for _ in range(5):
        store.rate_limits.count((own, common), START)
    assert store.rate_limits.count((limit("another", 1), common), START) is None
    full = present(store.rate_limits.count((limit("a third", 1), common), START))
    assert full.limit == common


def test_concurrent_attempts_are_all_counted(store: Store) -> None:
    """Exactly the allowed number of concurrent attempts succeed, and none waits forever."""
    limits = (limit("from", 30), limit("to", 20, 60))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: store.rate_limits.count(limits, START), range(40)))
    assert found.count(None) == 20
    assert sum(each.is_first for each in found if each is not None) == 2


@on_both
def test_an_attempt_can_be_taken_back(store: Store) -> None:
    """Taking an attempt back decreases each limit's counter, but never below zero."""
    own, common = limit("own", 2), limit("common", 2)
    for _ in range(2):
        store.rate_limits.count((own, common), START)
    store.rate_limits.uncount((own, limit("another", 1)))
    found = [store.rate_limits.count((each,), START) is None for each in (own, own, common)]
    assert found == [True, False, False]
    for _ in range(9):
        store.rate_limits.uncount((common,))
    assert [store.rate_limits.count((common,), START) is None for _ in range(3)] == [
        True,
        True,
        False,
    ]


@on_both
def test_the_number_of_counters_is_limited(
    store: Store, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each attempt removes expired windows and, if too many remain, those that expire first."""
    monkeypatch.setattr(rate_limits, "MAX_COUNTERS", 5)
    for number in range(20):
        store.rate_limits.count((limit(f"k{number}", 1, 15 + number),), START)
    assert keys(database) == {f"k{number}" for number in range(15, 20)}
    store.rate_limits.count((limit("last", 1, 60),), START + timedelta(minutes=33))
    assert keys(database) == {"k19", "last"}


def keys(database: Database) -> set[str]:
    """Return the keys of all counters."""
    with database.read() as connection:
        return set(connection.execute(text("SELECT key FROM attempt")).scalars())
