"""Two coordinators that claim from the same PostgreSQL at once."""

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
from arena.protocol.match import RuntimeName
from tests.db.builders import START, add_bot, add_matches

pytestmark = pytest.mark.postgresql

_SETS: Final = 16
_SEATS: Final = 5
_CLAIMERS: Final = 8
"""Threads, half of them of each coordinator."""

_IMPATIENT: Final = "&options=-c%20lock_timeout%3D1s"
"""Anyone who waits longer for a lock than that fails."""


@pytest.fixture
def matches(postgresql_url: str) -> list[str]:
    """Give eighty matches that wait, in the order in which they are due."""
    with closing(open_store(postgresql_url)) as store:
        versions = [add_bot(store, name) for name in "abcde"[:_SEATS]]
        return [
            match for number in range(_SETS) for match in add_matches(store, f"s{number}", versions, deals=1)
        ]


@pytest.fixture
def stores(postgresql_url: str) -> Iterator[tuple[Store, Store]]:
    """Give the stores of two coordinators, neither of which waits for locks."""
    url = postgresql_url + _IMPATIENT
    with closing(open_store(url)) as here, closing(open_store(url)) as there:
        yield here, there


@contextmanager
def locked(url: str, match: str) -> Iterator[None]:
    """Keep a match as a coordinator does that is stuck in the middle of its claim."""
    with closing(Database(url)) as database, database.write() as connection:
        connection.execute(select(MatchRow.id).where(MatchRow.id == match).with_for_update())
        yield


def claim(stores: tuple[Store, Store], many: int) -> list[list[str]]:
    """Claim this many matches at once; return what each claimer got, in its order."""
    tickets = iter(range(many))

    def claim_on(number: int) -> list[str]:
        got = []
        for _ in tickets:
            taken = stores[number % 2].leases.claim(f"c{number % 2}", "worker", START, RuntimeName.DOCKER)
            assert taken is not None
            assert taken.spec.attempt == 1
            got.append(taken.spec.match)
        return got

    with ThreadPoolExecutor(_CLAIMERS) as pool:
        return list(pool.map(claim_on, range(_CLAIMERS)))


def test_each_match_is_claimed_once_and_in_order(
    postgresql_url: str, stores: tuple[Store, Store], matches: list[str]
) -> None:
    """Anyone who claims takes the first that is free, and waits for nobody, stuck or not."""
    first, *others = matches
    assert len(matches) == 80
    with locked(postgresql_url, first):
        for expected in (others[:40], others[40:]):
            got = claim(stores, len(expected))
            assert sorted(chain(*got), key=matches.index) == expected
            assert all(its == sorted(its, key=matches.index) for its in got)
        assert stores[0].leases.claim("c0", "worker", START, RuntimeName.DOCKER) is None
    assert list(chain(*claim(stores, 1))) == [first]
    assert stores[0].activity.totals().matches_waiting == 0
