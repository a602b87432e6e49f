"""Tests of the coordinator with a real store."""

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count, pairwise
from pathlib import Path

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from arena.db.audit import NewAuditEntry
from arena.db.database import Database
from arena.db.leases import LEASE_SECONDS
from arena.db.matches import Claim, FinishedMatch
from arena.db.store import Store, open_store
from arena.ladder.settings import LadderChange
from arena.platform.periodic import Backoff
from arena.play.botfiles import samples
from arena.play.launcher.launcher import Launcher
from arena.play.launcher.slots import SlotPool
from arena.play.replay.document import parse
from arena.play.replay.verify import verify
from arena.protocol.match import GameRecord, Limits, MatchRecord, MatchSpec, RuntimeName, SeatReport
from arena.protocol.sandbox_controls import Gate
from arena.rules import Rules
from arena.sandbox.process.runtime import ProcessRuntime
from arena.scheduler.coordinator import ArenaError, Coordinator
from arena.scheduler.ladder import Entropy, Ladder
from arena.scheduler.settling import (
    RETRY_DELAYS,
    AttemptFailed,
    MatchEvent,
    MatchStarted,
    ResultDropped,
    RetryDelays,
    Watcher,
)
from arena.scheduler.workers import Workers, local_workers
from tests import builders
from tests.builders import host_report
from tests.databases import sqlite_store
from tests.db.builders import (
    START,
    SetClock,
    add_account,
    add_bot,
    add_matches,
    claim_one,
    new_challenge,
    put_aside,
    record,
)
from tests.patience import WAIT_SECONDS

AT_ONCE = RetryDelays(per_match=Backoff(first=0, maximum=0), shared=Backoff(first=0, maximum=0))
"""Failed matches may be retried immediately."""


@dataclass
class Notes:
    """Records match events."""

    claims: dict[str, Claim] = field(default_factory=dict)
    finished: list[FinishedMatch] = field(default_factory=list)
    voided: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    dropped: list[tuple[str, int]] = field(default_factory=list)
    quarantined: int = 0

    def __call__(self, event: MatchEvent) -> None:
        """Record the event."""
        match event:
            case MatchStarted(claim):
                self.claims[claim.spec.match] = claim
            case FinishedMatch():
                self.finished.append(event)
            case AttemptFailed():
                (self.lost if event.lost else self.voided).append(f"{event.match}: {event.reason}")
                self.quarantined += event.quarantined
            case ResultDropped():
                self.dropped.append((event.match, event.attempt))


def coordinator_of(  # noqa: PLR0913 - what tests may vary
    store: Store,
    workers: Workers,
    notes: Watcher,
    delays: RetryDelays = RETRY_DELAYS,
    *,
    runtime: RuntimeName = RuntimeName.PROCESS,
    gate: Gate | None = None,
    program_changed: Callable[[], bool] = lambda: False,
    has_room: Callable[[], bool] = lambda: True,
) -> Coordinator:
    """Return a coordinator that rejects untrusted bots unless a gate is given."""
    return Coordinator(
        name="here",
        store=store,
        workers=workers,
        runtime=runtime,
        now=lambda: datetime.now(UTC),
        gate=gate or Gate(),
        watchers=[notes],
        delays=delays,
        program_changed=program_changed,
        has_room=has_room,
    )


def entropy() -> Entropy:
    """Return a source of fixed ids and randomness."""
    numbers = count(1)
    dice = random.Random(7)  # noqa: S311 - a test's dice needn't be secret
    return Entropy(
        now=lambda: datetime(2026, 1, 1, tzinfo=UTC),
        new_id=lambda: f"set{next(numbers)}",
        new_seed=lambda: dice.randbytes(16),
        dice=dice,
    )


def ladder_of(store: Store, gate: Gate | None = None) -> Ladder:
    """Return a ladder of the quick sample bots, with fixed ids and randomness."""
    ladder = Ladder(store, RuntimeName.PROCESS, entropy(), gate or Gate(), Limits())
    quick = [samples() / name for name in ("random", "greedy", "spoiler")]
    ladder.enter_house_bots((folder.name, str(folder)) for folder in quick)
    return ladder


class QuickLauncher(Launcher):
    """A launcher that plays at random in this process, without a referee or bots.

    It also records the requested shares of a core.
    """

    def __init__(self, run_dir: Path) -> None:
        super().__init__(ProcessRuntime(), "test", run_dir)
        self.shares: set[float] = set()

    def _play(self, match: MatchSpec, *_: object) -> MatchRecord:
        self.shares.add(match.limits.cpus)
        return MatchRecord(
            match=match.match,
            attempt=match.attempt,
            games=tuple(_played(match.rules, seed) for seed in match.seeds),
            seats=tuple(SeatReport(image=image, runtime="process", limits=()) for image in match.seats),
        )


def _played(rules: Rules, seed: str) -> GameRecord:
    end, record = builders.play(rules, seed, random.Random(seed))  # noqa: S311 - a game that can be repeated
    assert end.result is not None
    return replace(record, totals=end.result.totals)


def play(  # noqa: PLR0913 - what tests may vary
    store: Store,
    run_dir: Path,
    notes: Notes,
    runtime: RuntimeName = RuntimeName.PROCESS,
    *,
    slots: SlotPool | None = None,
    gate: Gate | None = None,
    refill: Callable[[], bool] = lambda: False,
) -> set[float]:
    """Play the waiting matches of this runtime, and return the CPU shares that bots were given."""
    launcher = QuickLauncher(run_dir)
    with local_workers(launcher, slots or SlotPool(5, 0.4), "host") as workers:
        coordinator_of(store, workers, notes, AT_ONCE, runtime=runtime, gate=gate).run(refill)
    return launcher.shares


@pytest.mark.parametrize(("share", "given"), [(0.2, {0.2}), (0.8, {0.4})])
def test_no_bot_gets_more_than_its_slots_share(
    store: Store, run_dir: Path, share: float, given: set[float]
) -> None:
    """A bot gets at most its slot's share, even if the match was created with a larger one."""
    ladder_of(store).add_match()
    assert play(store, run_dir, Notes(), slots=SlotPool(5, share)) == given


def test_each_game_of_a_match_has_its_own_deal_and_seats(store: Store, run_dir: Path) -> None:
    """No deal is used twice, and the stored seat order is the one that was drawn."""
    ladder = ladder_of(store)
    notes = Notes()
    while not notes.finished or len(notes.finished[-1].games) == 1:  # matches with new bots have one deal
        assert ladder.add_match()
        play(store, run_dir, notes)
    seeds = [game.record.seed for match in notes.finished for game in match.games]
    assert len(set(seeds)) == len(seeds)
    for match in notes.finished:
        claim = notes.claims[match.match]
        assert {report.image for report in match.reports} == set(claim.spec.seats)
        for index, game in enumerate(match.games):
            page = store.games.find(game.id)
            assert page is not None
            assert [seat.bot for seat in page.seats] == [seat.bot for seat in claim.seated(index)]
            assert [seat.image for seat in page.seats] == [
                Path(claim.spec.seats[bot]).name for bot in game.bots
            ]
            assert verify(parse(page.replay)) is None


def test_the_seat_order_is_drawn_for_each_deal(store: Store) -> None:
    """A rated match has a seating per deal, so bots don't sit in the same order in all of them."""
    versions = [add_bot(store, name, author="house") for name in "abcde"]
    record(store, versions, [(1, 2, 3, 4, 5)])
    ladder = Ladder(store, RuntimeName.DOCKER, entropy(), Gate(), Limits())
    for _ in range(4):
        assert ladder.add_match()
    for spec in [claim_one(store).spec for _ in range(4)]:
        assert len(spec.seatings) == len(spec.seeds) > 1
        assert len(set(spec.seatings)) > 1


def test_a_match_that_the_arena_can_not_play_is_quarantined(store: Store, run_dir: Path) -> None:
    """Three voids quarantine a match, and none of its games is rated."""
    ladder_of(store).add_match()
    blocked = run_dir / "file"
    blocked.write_text("no folder")
    notes = Notes()
    play(store, blocked, notes)
    matches = {text.partition(":")[0] for text in notes.voided}
    assert len(notes.voided) == 3 * len(matches)
    assert notes.quarantined == len(matches)
    totals = store.activity.totals()
    assert totals.games == totals.matches_waiting == totals.matches_running == 0


def test_bots_of_a_quarantined_match_are_not_drawn_again_at_once(store: Store) -> None:
    """Without a rest, the arena would draw a bot that can't be started for match after match."""
    versions = [add_bot(store, name, author="house") for name in "abcd"]
    record(store, versions[2:], [(1, 2)], id_="r", minute=0)
    add_matches(store, "s", versions[:2], matches=1)
    put_aside(store, minute=1)
    moment = START + timedelta(minutes=1)
    ladder = Ladder(store, RuntimeName.DOCKER, replace(entropy(), now=lambda: moment), Gate(), Limits())

    def drawn() -> set[str]:
        assert ladder.add_match()
        return {seat.bot for seat in claim_one(store).seats}

    assert drawn() == {"c", "d"}
    moment += timedelta(minutes=1)
    assert drawn() & {"a", "b"}


def test_a_result_that_can_not_be_stored_affects_no_other(
    store: Store, run_dir: Path, tmp_path: Path
) -> None:
    """After three attempts, that match is quarantined. The others are played and stored."""
    ladder = ladder_of(store)
    for _ in range(2):
        assert ladder.add_match()
    with closing(Database(f"sqlite:///{tmp_path / 'arena.sqlite3'}")) as other, other.write() as connection:
        connection.exec_driver_sql(
            "CREATE TRIGGER defect BEFORE INSERT ON game WHEN NEW.match_id = 'set1' "
            "BEGIN SELECT RAISE(ABORT, 'a defect'); END"
        )
    notes = Notes()
    play(store, run_dir, notes)
    assert [text.partition(":")[0] for text in notes.voided] == ["set1"] * 3
    assert notes.quarantined == 1
    assert notes.finished
    totals = store.activity.totals()
    assert totals.matches_waiting == totals.matches_running == 0
    assert totals.games == sum(len(match.games) for match in notes.finished)
    assert store.ladder.rebuild().differing == 0


def test_an_arena_that_can_not_play_stops_before_it_voids_the_queue(store: Store, run_dir: Path) -> None:
    """After ten consecutive voids it stops with a message, while most matches are still queued."""
    ladder = ladder_of(store)
    for _ in range(8):
        ladder.add_match()
    waiting = store.activity.totals().matches_waiting
    blocked = run_dir / "file"
    blocked.write_text("no folder")
    notes = Notes()
    with pytest.raises(ArenaError, match="in a row failed"):
        play(store, blocked, notes)
    assert notes.quarantined <= 4
    totals = store.activity.totals()
    assert totals.matches_waiting == waiting - notes.quarantined
    assert totals.matches_running == 0


def test_a_match_that_failed_once_is_played_before_the_run_ends(store: Store, run_dir: Path) -> None:
    """All games of a retried match are stored."""
    ladder_of(store).add_match()
    blocked = run_dir / "file"
    blocked.write_text("no folder yet")

    class Mending(Notes):
        def __call__(self, event: MatchEvent) -> None:
            super().__call__(event)
            if isinstance(event, AttemptFailed) and blocked.is_file():
                blocked.unlink()

    notes = Mending()
    play(store, blocked, notes)
    totals = store.activity.totals()
    assert notes.voided
    assert notes.quarantined == 0
    assert totals.matches_waiting == totals.matches_running == 0
    assert totals.games == sum(len(match.games) for match in notes.finished) > 0


def test_matches_for_another_runtime_are_left_alone(store: Store, run_dir: Path) -> None:
    """A coordinator for plain processes ignores matches that need containers."""
    ladder_of(store).add_match()
    play(store, run_dir, Notes(), RuntimeName.DOCKER)
    assert store.activity.totals().matches_waiting > 0
    assert store.activity.totals().games == 0


def test_no_match_begins_while_the_disk_is_full(store: Store, run_dir: Path) -> None:
    """A full disk is logged once. Matches start again as soon as there is room."""
    ladder_of(store).add_match()
    notes, room = Notes(), iter([False] * 3)
    launcher = QuickLauncher(run_dir)
    with local_workers(launcher, SlotPool(5, 0.4), "host") as workers, capture_logs() as logs:
        coordinator_of(store, workers, notes, has_room=lambda: next(room, True)).run(lambda: False)
    assert [line["event"] for line in logs if "disk" in line["event"]] == [
        "disk full",
        "disk space recovered",
    ]
    assert notes.finished


def test_the_coordinator_waits_while_the_ladder_is_paused(store: Store, run_dir: Path) -> None:
    """During a pause, the coordinator keeps polling. Afterwards, it plays the matches that are drawn."""
    ladder = ladder_of(store)
    entry = NewAuditEntry(at=datetime.now(UTC), who="terminal:root", what="ladder")
    store.ladder.change(LadderChange(paused=True), entry)
    notes = Notes()
    asked: list[float] = []

    def refill() -> bool:
        asked.append(time.monotonic())
        if notes.finished:
            coordinator.stop()
        elif len(asked) == 4:
            store.ladder.change(LadderChange(paused=False), entry)
        assert ladder.add_match() == (len(asked) >= 4)
        return True

    launcher = QuickLauncher(run_dir)
    with local_workers(launcher, SlotPool(5, 0.4), "host") as workers:
        coordinator = coordinator_of(store, workers, notes)
        coordinator.run(refill)
    assert all(later - earlier >= 0.4 for earlier, later in pairwise(asked[:4]))
    assert notes.voided == []


def held_up(store: Store) -> int:
    """Return the number of waiting matches with untrusted bots."""
    every, own = (store.queue.waiting(RuntimeName.PROCESS, house_only=house) for house in (False, True))
    return every - own


def bots_of(matches: list[FinishedMatch], store: Store) -> set[str]:
    """Return the names of the bots in these matches."""
    pages = [store.games.find(game.id) for match in matches for game in match.games]
    return {seat.bot for page in pages if page for seat in page.seats}


def test_submitted_bots_wait_while_the_gate_is_shut(store: Store, run_dir: Path) -> None:
    """While untrusted bots are barred, only house bots are drawn and play. Afterwards all bots do."""
    gate = Gate()
    gate.decide(host_report(), ())
    ladder = ladder_of(store, gate)
    add_bot(store, "stranger", source=str(samples() / "random"))
    while not held_up(store):
        ladder.add_match()
    before = held_up(store)

    gate.decide(host_report("swap"), ())
    for _ in range(3):
        ladder.add_match()
    assert held_up(store) == before
    notes = Notes()
    play(store, run_dir, notes, gate=gate)
    assert notes.voided == []
    assert bots_of(notes.finished, store) == {"random", "greedy", "spoiler"}
    assert held_up(store) == store.activity.totals().matches_waiting == before

    gate.decide(host_report("swap"), {"swap"})
    play(store, run_dir, notes, gate=gate)
    assert "stranger" in bots_of(notes.finished, store)
    assert store.activity.totals().matches_waiting == 0


def test_challenges_do_not_keep_the_ladder_waiting(store: Store, run_dir: Path) -> None:
    """If only challenges are queued, a rated match is drawn before all of them have been played."""
    ladder = ladder_of(store)
    versions = [candidate.version for candidate in store.ratings.candidates()][:2]
    account = add_account(store, "ann")
    for id_ in ("c0", "c1"):
        new = new_challenge(id_, account.id, versions, deals=1)
        here = tuple(replace(match, runtime=RuntimeName.PROCESS) for match in new.matches)
        store.challenges.add(replace(new, matches=here), max_a_day=9)
    challenged: list[int] = []

    def refill() -> bool:
        waiting = store.queue.waiting(RuntimeName.PROCESS)
        challenged.append(waiting - store.queue.waiting(RuntimeName.PROCESS, rated_only=True))
        return len(challenged) == 1 and ladder.add_match()

    notes = Notes()
    play(store, run_dir, notes, refill=refill)
    assert challenged[0] > 0
    assert notes.voided == []
    assert store.activity.totals().games > 0


def test_leases_expire_even_if_worker_status_can_not_be_stored(tmp_path: Path, run_dir: Path) -> None:
    """A dead coordinator's match is requeued."""
    clock, notes = SetClock(), Notes()
    file = tmp_path / "arena.sqlite3"
    sqlite_store(file).close()
    url = f"sqlite:///{file}"
    with closing(open_store(url, clock)) as store, closing(Database(url)) as other:
        ladder_of(store).add_match()
        assert store.leases.claim("dead", "worker", datetime.now(UTC), RuntimeName.PROCESS)
        clock.seconds += LEASE_SECONDS + 1
        with other.write() as connection:
            connection.exec_driver_sql(
                "CREATE TRIGGER defect BEFORE INSERT ON worker BEGIN SELECT RAISE(ABORT, 'a defect'); END"
            )
        end = time.monotonic() + WAIT_SECONDS
        # Until the loss is noticed, the coordinator only plays the waiting match.
        play(store, run_dir, notes, refill=lambda: not notes.lost and time.monotonic() < end)
        assert len(notes.lost) == 1
        assert notes.voided == []
        assert store.activity.totals().matches_running == 0


@pytest.mark.postgresql
def test_matches_locked_by_another_coordinator_block_nothing(postgresql_url: str, run_dir: Path) -> None:
    """The loop continues, so results are stored. The matches are played once their rows are unlocked."""
    notes = Notes()
    launcher = QuickLauncher(run_dir)
    with (
        closing(open_store(postgresql_url)) as store,
        closing(Database(postgresql_url)) as other,
        ThreadPoolExecutor(1) as thread,
        local_workers(launcher, SlotPool(5, 0.4), "host") as workers,
    ):
        ladder_of(store).add_match()
        coordinator = coordinator_of(store, workers, notes)
        with other.write() as connection:
            connection.execute(text("SELECT id FROM match FOR UPDATE"))
            run = thread.submit(coordinator.run, lambda: False)
            turns = {coordinator.last_tick}
            end = time.monotonic() + WAIT_SECONDS
            while len(turns) < 4 and time.monotonic() < end:
                time.sleep(0.01)
                turns.add(coordinator.last_tick)
            goes_round = len(turns) == 4
            if not goes_round:
                coordinator.stop()
        run.result(timeout=WAIT_SECONDS)
        assert goes_round
        totals = store.activity.totals()
        assert totals.matches_waiting == totals.matches_running == 0
        assert totals.games == sum(len(match.games) for match in notes.finished) > 0
