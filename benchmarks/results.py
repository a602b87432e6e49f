"""Cost of checking, storing and rating a finished game."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from arena.db.bots import NewVersion
from arena.db.matches import Claim, NewMatch
from arena.db.store import Store, open_store
from arena.ladder.matchmaking import DEALS
from arena.protocol.match import MatchRecord, encode
from arena.scheduler.check import verified_match
from benchmarks.tables import Match

_NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)


class ResultCosts(NamedTuple):
    """CPU seconds per game."""

    check: float  # replaying the record and building the public replay
    store: float  # the SQLite transaction that stores and rates the game


def measure_results(match: Match) -> ResultCosts:
    """Split a match that was actually played into several short ones. Check and store these."""
    check = store_ = 0.0
    with _temporary_store() as store:
        claims = _claims(store, match)
        for number, claim in enumerate(claims):
            data = encode(_part(match, number, claim))
            begin = time.process_time()
            finished = verified_match(claim, data, _NOW)
            between = time.process_time()
            if not store.results.record(finished):
                raise RuntimeError("the store did not accept a result")
            store_ += time.process_time() - between
            check += between - begin
    games = len(claims) * DEALS
    return ResultCosts(check / games, store_ / games)


@contextmanager
def _temporary_store() -> Iterator[Store]:
    with (
        tempfile.TemporaryDirectory(prefix="kaiten-store-") as folder,
        closing(open_store(f"sqlite:///{Path(folder) / 'arena.sqlite3'}")) as store,
    ):
        yield store


def _claims(store: Store, match: Match) -> list[Claim]:
    """Add the match's bots, and claim matches with ``DEALS`` of its seeds each."""
    spec = match.spec
    versions = tuple(
        store.bots.add_version(
            NewVersion(bot=f"bench-{seat}", author="bench", house=False, source=source, created=_NOW)
        )
        for seat, source in enumerate(spec.seats)
    )
    claims = []
    for number in range(len(spec.seeds) // DEALS):
        new = NewMatch(
            id=f"bench-{number}",
            rules=spec.rules,
            seeds=spec.seeds[number * DEALS : (number + 1) * DEALS],
            bots=versions,
            clock=spec.clock,
            limits=spec.limits,
            runtime=spec.runtime,
            created=_NOW,
        )
        store.queue.add(new)
        claim = store.leases.claim("here", "worker", _NOW, spec.runtime)
        if claim is None:
            raise RuntimeError("no match could be claimed from the store")
        claims.append(claim)
    return claims


def _part(match: Match, number: int, claim: Claim) -> MatchRecord:
    games = match.record.games[number * DEALS : (number + 1) * DEALS]
    return replace(match.record, match=claim.spec.match, attempt=claim.spec.attempt, games=games)
