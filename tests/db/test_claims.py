"""Test of two coordinators that claim matches from one PostgreSQL database at the same time."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import chain
from typing import Final

import pytest
from sqlalchemy import select

from arena.db.database import Database
from arena.db.schema import MatchRow
from arena.db.store import Store, open_store
from tests.db.builders import add_bot, add_matches, claim_one, next_claim
from tests.soak import many

pytestmark = pytest.mark.postgresql

_BATCHES: Final = many(8, 16)
_SEATS: Final = 5
_CLAIMERS: Final = 8
"""Number of threads, half of them per coordinator."""

_IMPATIENT: Final = "&options=-c%20lock_timeout%3D60s"
"""A claim fails if it waits for a lock for longer than this, but not if a busy host delays another claim."""


@pytest.fixture
def matches(postgresql_url: str) -> list[str]:
    """Add many waiting matches, and return their ids in the order in which they are claimed."""
    with closing(open_store(postgresql_url)) as store:
        versions = [add_bot(store, name) for name in "abcde"[:_SEATS]]
        return [
            match
            for number in range(_BATCHES)
            for match in add_matches(store, f"s{number}", versions, deals=1)
        ]


@pytest.fixture
def stores(postgresql_url: str) -> Iterator[tuple[Store, Store]]:
    """Yield the stores of two coordinators whose claims fail instead of waiting for a lock."""
    url = postgresql_url + _IMPATIENT
    with closing(open_store(url)) as here, closing(open_store(url)) as there:
        yield here, there


@contextmanager
def locked(url: str, match: str) -> Iterator[None]:
    """Lock a match, like a coordinator that is stuck in the middle of a claim."""
    with closing(Database(url)) as database, database.write() as connection:
        connection.execute(select(MatchRow.id).where(MatchRow.id == match).with_for_update())
        yield


def claim(stores: tuple[Store, Store], many: int) -> list[list[str]]:
    """Claim this many matches in several threads. Return the matches of each thread, in order."""
    tickets = iter(range(many))

    def claim_on(number: int) -> list[str]:
        got = []
        for _ in tickets:
            taken = claim_one(stores[number % 2], f"c{number % 2}")
            assert taken.spec.attempt == 1
            got.append(taken.spec.match)
        return got

    with ThreadPoolExecutor(_CLAIMERS) as pool:
        return list(pool.map(claim_on, range(_CLAIMERS)))


def test_each_match_is_claimed_once_and_in_order(
    postgresql_url: str, stores: tuple[Store, Store], matches: list[str]
) -> None:
    """Each claim takes the first match that isn't locked, without waiting."""
    first, *others = matches
    half = len(matches) // 2
    with locked(postgresql_url, first):
        for expected in (others[:half], others[half:]):
            got = claim(stores, len(expected))
            assert sorted(chain(*got), key=matches.index) == expected
            assert all(its == sorted(its, key=matches.index) for its in got)
        assert next_claim(stores[0]) is None
    assert list(chain(*claim(stores, 1))) == [first]
    assert stores[0].activity.totals().matches_waiting == 0
