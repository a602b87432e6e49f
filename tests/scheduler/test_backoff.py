"""Tests of the backoff after arena faults: for a match, for all matches and for a host."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from arena.db.store import Store
from arena.platform.periodic import Backoff
from arena.play.launcher.slots import SlotPool
from arena.scheduler.settling import (
    MAX_CONSECUTIVE_VOIDS,
    AttemptFailed,
    ConsecutiveVoids,
    MatchBackoff,
    MatchEvent,
    MatchStarted,
    RetryDelays,
)
from arena.scheduler.workers import HOST_BACKOFF, local_workers
from tests.patience import WAIT_SECONDS
from tests.scheduler.test_coordinator import Notes, QuickLauncher, coordinator_of, ladder_of

LONG = 3_600.0
"""Seconds, longer than any test takes."""


NONE = Backoff(first=0, maximum=0)


def test_a_backoff_grows_up_to_its_limit() -> None:
    """Each failure in a row multiplies the delay."""
    assert [HOST_BACKOFF.after(failures) for failures in range(1, 8)] == [1, 2, 4, 8, 16, 30, 30]
    assert HOST_BACKOFF.after(1_000_000) == 30
    assert [RetryDelays().per_match.after(failures) for failures in (1, 2, 3)] == [2, 10, 10]


def test_each_failure_lengthens_the_backoff_of_a_match() -> None:
    """A failed match delays no other match. A match that is no longer queued is forgotten."""
    backoff = MatchBackoff(RetryDelays(shared=NONE))
    backoff.fail("a", 1, 100.0)
    assert (backoff.matches(101.9), backoff.matches(102.0)) == (("a",), ())
    backoff.fail("b", 2, 105.0)
    backoff.fail("a", 3, 105.0)
    assert (backoff.matches(106.9), backoff.matches(107.0)) == (("b", "a"), ("a",))
    backoff.forget("a")
    assert backoff.matches(107.0) == ()
    assert not backoff.blocks_all(105.0)


def test_each_failure_in_a_row_lengthens_the_backoff_of_all_matches() -> None:
    """The delay grows up to a limit, until a match is played."""
    backoff = MatchBackoff(RetryDelays(per_match=NONE))
    for in_a_row, delay in ((1, 0.5), (2, 1), (3, 2), (6, 15), (1_000_000, 15)):
        backoff.fail("a", in_a_row, 100.0)
        assert backoff.blocks_all(100.0 + delay - 0.01)
        assert not backoff.blocks_all(100.0 + delay)
    backoff.succeed("a")
    assert not backoff.blocks_all(100.0)


def test_only_the_latest_failed_matches_have_a_backoff() -> None:
    """The number of matches in backoff is limited, since a query lists them."""
    backoff = MatchBackoff(RetryDelays())
    for number in range(1_000):
        backoff.fail(f"m{number}", 1, 100.0)
    assert backoff.matches(100.0) == tuple(f"m{number}" for number in range(900, 1_000))


def test_an_arena_that_cannot_play_stops() -> None:
    """Enough consecutive failures of house bots only, or of different authors' bots, stop the arena."""
    house, strangers = ConsecutiveVoids(), ConsecutiveVoids()
    for number in range(MAX_CONSECUTIVE_VOIDS):
        assert not house.too_many(1)
        assert not strangers.too_many(1)
        house.add((), "w")
        strangers.add((f"author {number}", "sometimes") if number % 2 else (f"author {number}",), "w")
    assert house.too_many(1)
    assert strangers.too_many(1)


def test_one_author_in_all_failed_matches_does_not_stop_the_arena() -> None:
    """The arena continues with other matches, however many fail."""
    voids = ConsecutiveVoids()
    for number in range(5 * MAX_CONSECUTIVE_VOIDS):
        voids.add(("spoiler", f"author {number}"), "w")
    assert not voids.too_many(1)
    voids.add(("another",), "w")
    assert voids.too_many(1)


def test_one_failing_worker_of_several_does_not_stop_the_arena() -> None:
    """A failing worker stops the arena only if there is no other, or if a second one fails too."""
    voids = ConsecutiveVoids()
    for _ in range(MAX_CONSECUTIVE_VOIDS):
        voids.add((), "one")
    assert voids.too_many(1)
    assert not voids.too_many(2)
    voids.add((), "two")
    assert voids.too_many(2)


def test_a_played_match_resets_the_count() -> None:
    """After a reset, the count starts over, and another author's bots may be to blame."""
    voids = ConsecutiveVoids()
    for _ in range(MAX_CONSECUTIVE_VOIDS - 1):
        voids.add((), "w")
    voids.reset()
    voids.add(("spoiler",), "w")
    assert (voids.count, voids.too_many(1)) == (1, False)
    for _ in range(2 * MAX_CONSECUTIVE_VOIDS):
        voids.add(("spoiler",), "w")
    assert not voids.too_many(1)


@dataclass
class Mending(Notes):
    """Records events, deletes a file after a failure, and counts the matches that start later."""

    blocked: Path | None = None
    began: int = 0

    def __call__(self, event: MatchEvent) -> None:
        """Record the event, and repair the folder."""
        super().__call__(event)
        if isinstance(event, MatchStarted):
            self.began += bool(self.voided)
        if isinstance(event, AttemptFailed) and self.blocked is not None:
            # If two matches failed, a third one may have created the folder before the second event.
            with suppress(FileNotFoundError, IsADirectoryError):
                self.blocked.unlink()


@pytest.mark.parametrize("all_wait", [False, True])
def test_a_failed_match_waits(store: Store, run_dir: Path, *, all_wait: bool) -> None:
    """While a failed match waits, others are played, unless all are in backoff. The run continues."""
    long = Backoff(first=LONG, maximum=LONG)
    delays = RetryDelays(per_match=long, shared=long if all_wait else NONE)
    ladder = ladder_of(store)
    while store.activity.totals().matches_waiting < 4:
        ladder.add_match()
    waiting = store.activity.totals().matches_waiting
    blocked = run_dir / "run"
    blocked.write_text("no folder yet")
    # A second match may start before the first failure is noticed. Its success would end the backoff, so the
    # folder stays blocked.
    notes = Mending(blocked=None if all_wait else blocked)
    launcher = QuickLauncher(blocked)
    with (
        ThreadPoolExecutor(1) as thread,
        local_workers(launcher, SlotPool(3, 0.4), "host") as workers,
    ):
        coordinator = coordinator_of(store, workers, notes, delays)
        run = thread.submit(coordinator.run, lambda: False)
        try:
            end = time.monotonic() + WAIT_SECONDS
            while time.monotonic() < end and not run.done():
                if notes.voided and (all_wait or len(notes.finished) + len(notes.voided) >= waiting):
                    break
                time.sleep(0.05)
            for _ in range(3):
                before = coordinator.last_tick
                while coordinator.last_tick == before and time.monotonic() < end:
                    time.sleep(0.01)
            assert not run.done()
        finally:
            coordinator.stop()
        run.result(WAIT_SECONDS)
    failed = [text.partition(":")[0] for text in notes.voided]
    assert len(failed) == len(set(failed)) > 0
    assert store.activity.totals().matches_waiting == waiting - len(notes.finished)
    assert bool(notes.began) is not all_wait
    assert all_wait or len(notes.finished) + len(failed) == waiting
