"""Test of a match that ends after its deadline, while the database is unavailable."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from arena.db.database import Database
from arena.db.store import Store
from arena.play.launcher import MatchVoid
from arena.protocol.match import WorkerStatus
from arena.protocol.status import RefusedWorker
from arena.scheduler.settling import MatchEvent, MatchStarted
from arena.scheduler.workers import Verdict
from tests.databases import sqlite_store
from tests.patience import WAIT_SECONDS
from tests.scheduler.test_coordinator import Notes, coordinator_of, ladder_of


@dataclass
class Slow:
    """A worker with room for one match, which the test ends."""

    future: Future[bytes] = field(default_factory=Future)
    worker: str = "slow"
    seats: int = 5
    cpus: float = 0.4
    taken: bool = False

    def reserve(self, seats: int) -> "Slow | None":  # noqa: ARG002 - there is room for any match
        """Return this worker once, and None until it is released."""
        before, self.taken = self.taken, True
        return None if before else self

    def play(self, spec: bytes, progress: Callable[[bytes], None]) -> Future[bytes]:  # noqa: ARG002 - nothing is played
        """Return the result that the test will set."""
        return self.future

    def report(self, verdict: Verdict) -> None:
        """Ignore the verdict."""

    def release(self) -> None:
        """Make the place available again."""
        self.taken = False

    def status(self) -> tuple[WorkerStatus, ...]:
        """Return no status."""
        return ()

    def refused(self) -> tuple[RefusedWorker, ...]:
        """Return no refused workers."""
        return ()

    def stop(self) -> None:
        """Do nothing."""


@dataclass
class Halting(Notes):
    """Records events. When a match has started, holds the coordinator until the test lets it continue."""

    started: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)

    def __call__(self, event: MatchEvent) -> None:
        """Record the event, and wait."""
        super().__call__(event)
        if isinstance(event, MatchStarted):
            self.started.set()
            assert self.go_on.wait(WAIT_SECONDS)


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a database's address. Shorten lock timeouts, and make every match late immediately."""
    monkeypatch.setattr("arena.db.database._BUSY_SECONDS", 0.05)
    monkeypatch.setattr("arena.scheduler.coordinator._START_SECONDS", -1e6)
    return f"sqlite:///{tmp_path / 'arena.sqlite3'}"


@pytest.fixture
def store(url: str, tmp_path: Path) -> Iterator[Store]:
    """Yield a store with a waiting match."""
    del url  # its fixture has shortened the timeouts
    with closing(sqlite_store(tmp_path / "arena.sqlite3")) as store:
        ladder_of(store).add_match()
        yield store


def test_a_late_match_that_then_fails_counts_once(
    store: Store, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A match that misses its deadline while the database is locked, and then fails, is voided once."""
    notes, workers = Halting(), Slow()
    coordinator = coordinator_of(store, workers, notes)
    # The test's own connection waits until the coordinator's threads have finished writing.
    monkeypatch.setattr("arena.db.database._BUSY_SECONDS", WAIT_SECONDS)

    def go_round(times: int) -> None:
        for _ in range(times):
            before, end = coordinator.last_tick, time.monotonic() + WAIT_SECONDS
            while coordinator.last_tick == before:
                assert time.monotonic() < end
                time.sleep(0.01)

    with ThreadPoolExecutor(1) as thread, closing(Database(url)) as other:
        run = thread.submit(coordinator.run, lambda: True)
        try:
            assert notes.started.wait(WAIT_SECONDS)
            with other.write():
                notes.go_on.set()
                go_round(2)
                workers.future.set_exception(MatchVoid("it failed in the end"))
                go_round(2)
            go_round(2)
        finally:
            notes.go_on.set()
            coordinator.stop()
        run.result(WAIT_SECONDS)
    assert len(notes.voided) == 1
    assert notes.dropped == []
    assert notes.lost == []
