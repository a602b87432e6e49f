"""Matches that failed for a fault of the arena rest, and so do all for a while."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from arena.coordinator.rests import Resting, Rests
from arena.launcher import Launcher, SlotPool
from arena.sandbox.process_runtime import ProcessRuntime
from arena.store import Claim, open_store
from arena.workers.local import local_workers
from tests.coordinator.test_coordinator import Notes, coordinator_of, ladder_of
from tests.faults.installation import own_folder

LONG = 3_600.0
"""Seconds: longer than any test."""


def test_a_match_rests_longer_each_time() -> None:
    """Others are not held up by that; one that does not wait any more is forgotten."""
    resting = Resting(Rests(first=2, second=10, least=0, most=0))
    resting.fail("a", 1, 100.0)
    assert (resting.matches(101.9), resting.matches(102.0)) == (("a",), ())
    resting.fail("b", 2, 105.0)
    resting.fail("a", 3, 105.0)
    assert (resting.matches(106.9), resting.matches(107.0)) == (("b", "a"), ("a",))
    resting.forget("a")
    assert resting.matches(107.0) == ()
    assert not resting.all_rest(105.0)


def test_all_rest_longer_with_each_that_fails_in_a_row() -> None:
    """Up to a limit, until one is played."""
    resting = Resting(Rests(first=0, second=0, least=0.25, most=15))
    for in_a_row, rest in ((1, 0.5), (2, 1), (3, 2), (6, 15), (1_000_000, 15)):
        resting.fail("a", in_a_row, 100.0)
        assert resting.all_rest(100.0 + rest - 0.01)
        assert not resting.all_rest(100.0 + rest)
    resting.play("a")
    assert not resting.all_rest(100.0)


def test_no_more_are_kept_in_mind_than_a_query_bears() -> None:
    """Of those that failed the last ones rest."""
    resting = Resting(Rests(first=2))
    for number in range(1_000):
        resting.fail(f"m{number}", 1, 100.0)
    assert resting.matches(100.0) == tuple(f"m{number}" for number in range(900, 1_000))


@dataclass
class Mending(Notes):
    """Mends the place where matches are played when one has failed, and counts what begins after that."""

    blocked: Path = field(default_factory=Path)
    began: int = 0

    def on_started(self, claim: Claim, worker: str) -> None:
        """Count it."""
        super().on_started(claim, worker)
        self.began += bool(self.voided)

    def on_voided(self, match: str, attempt: int, reason: str, *, quarantined: bool) -> None:
        """Note it, and mend what was wrong."""
        super().on_voided(match, attempt, reason, quarantined=quarantined)
        if self.blocked.is_file():
            self.blocked.unlink()


@pytest.mark.parametrize("all_rest", [False, True])
def test_what_failed_is_left_alone_for_a_while(tmp_path: Path, *, all_rest: bool) -> None:
    """The others are played meanwhile, or nothing is, if all rest. It has not ended by that."""
    rests = Rests(first=LONG, least=LONG if all_rest else 0, most=LONG if all_rest else 0)
    with closing(open_store(f"sqlite:///{tmp_path / 'arena.sqlite3'}")) as store, own_folder() as folder:
        ladder = ladder_of(store)
        while store.reads.totals().matches_waiting < 8:
            ladder.add_set()
        waiting = store.reads.totals().matches_waiting
        blocked = folder / "run"
        blocked.write_text("no folder yet")
        notes = Mending(blocked=blocked)
        launcher = Launcher(ProcessRuntime(), "test", blocked)
        with (
            ThreadPoolExecutor(1) as thread,
            local_workers(launcher, SlotPool(5, 0.4), "host") as workers,
        ):
            coordinator = coordinator_of(store, workers, notes, rests)
            run = thread.submit(coordinator.run, lambda: False)
            try:
                end = time.monotonic() + 120
                while time.monotonic() < end and not run.done():
                    if notes.voided and (all_rest or len(notes.finished) + len(notes.voided) >= waiting):
                        break
                    time.sleep(0.05)
                for _ in range(3):
                    before = coordinator.ticked
                    while coordinator.ticked == before and time.monotonic() < end:
                        time.sleep(0.01)
                assert not run.done()
            finally:
                coordinator.stop()
            run.result(60)
        failed = [text.partition(":")[0] for text in notes.voided]
        assert len(failed) == len(set(failed)) > 0
        assert store.reads.totals().matches_waiting == waiting - len(notes.finished)
        assert bool(notes.began) is not all_rest
        assert all_rest or len(notes.finished) + len(failed) == waiting
