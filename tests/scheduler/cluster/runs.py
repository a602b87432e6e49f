"""Many matches on a cluster whose members are killed during the run, and figures of the outcome."""

import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from sqlalchemy import text

from arena.app.cluster import workers_of_cluster
from arena.db.database import Database
from arena.db.matches import FinishedMatch
from arena.db.store import Store
from arena.play.botfiles import samples
from arena.protocol.match import Clock, RuntimeName
from arena.protocol.sandbox_controls import Gate
from arena.scheduler.settling import AttemptFailed, MatchEvent, MatchStarted, ResultDropped
from tests.databases import sqlite_store
from tests.db.builders import add_bot, new_match
from tests.scheduler.cluster.hosts import Hosts, hosts
from tests.scheduler.test_coordinator import coordinator_of

QUICK = ("random", "greedy", "spoiler")
"""Bots that decide instantly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The outcomes of a run's matches."""

    matches: int
    kills: int  # of workers
    scheduler_kills: int
    played: int  # matches with a result
    missing: int  # matches without a result
    doubled: int  # games that were stored twice, or whose rating event is missing or duplicated
    quarantined: int
    faults: int  # number attributed to bots
    differing: int  # ratings that a rebuild changed
    lost: int  # attempts whose worker was lost
    voided: int  # attempts that failed because of an arena fault
    late: int  # results that were dropped because their attempt was no longer the current one
    given: dict[str, int]  # attempts by worker name
    seconds: float  # from the first claim to the last result
    longest_pause: float  # seconds between two results
    again: tuple[float, ...]  # for each lost match, the seconds from the kill until the next claim


@dataclass
class Notes:
    """Records match events."""

    over: Callable[[int], None] = lambda _: None  # called after each match with the number of finished ones
    started: Callable[[str], None] = lambda _: None  # called with the name of a worker that was given a match
    finished: int = 0
    lost: list[str] = field(default_factory=list)
    voided: list[str] = field(default_factory=list)
    late: int = 0
    quarantined: int = 0
    by: dict[str, str] = field(default_factory=dict)
    given: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    killed: float = 0.0
    waiting: dict[str, float] = field(default_factory=dict)
    again: list[float] = field(default_factory=list)

    def __call__(self, event: MatchEvent) -> None:
        """Record the event, and measure how long a match lost to a kill waits until it starts again."""
        match event:
            case MatchStarted(claim, worker):
                self.by[claim.spec.match] = worker
                self.given[worker] += 1
                if (killed := self.waiting.pop(claim.spec.match, None)) is not None:
                    self.again.append(time.monotonic() - killed)
                self.started(worker)
            case FinishedMatch():
                self.finished += 1
                self.times.append(time.monotonic())
                self.over(self.finished)
            case AttemptFailed():
                (self.lost if event.lost else self.voided).append(f"{event.match}: {event.reason}")
                self.quarantined += event.quarantined
                if event.lost:
                    self.waiting[event.match] = self.killed
            case ResultDropped():
                self.late += 1


def cluster_run(
    matches: int, kills: int, scheduler_kills: int = 0, *, seed: int = 1, workers: int = 3
) -> Figures:
    """Play matches of one deal on a separate scheduler and workers, some of which are killed.

    They are killed with SIGKILL, workers right after they have been given a match, and then restarted.
    """
    with (
        tempfile.TemporaryDirectory(prefix="kc-store-") as folder,
        closing(sqlite_store(Path(folder) / "arena.sqlite3")) as store,
        hosts(workers=workers) as cluster,
    ):
        queue_up(store, matches)
        dice = random.Random(seed)  # noqa: S311 - the moments needn't be secret
        # Never at the very end, so that the run shows the recovery from each kill.
        moments = dice.sample(range(1, matches * 9 // 10), kills + scheduler_kills)
        whom = dict(zip(moments, ["scheduler"] * scheduler_kills + ["worker"] * kills, strict=True))
        killer = _Killer(cluster, whom)
        begun = time.monotonic()
        coordinate(cluster, store, killer.notes)
        seconds = time.monotonic() - begun
        return _figures(store, folder, killer, (matches, begun, seconds))


def coordinate(cluster: Hosts, store: Store, notes: Notes) -> None:
    """Let a cluster's workers play the matches that are waiting in a store."""
    settings, gate = cluster.settings(), Gate()
    assert settings.executor is not None
    with workers_of_cluster(settings, settings.executor, store, gate) as workers:
        coordinator_of(store, workers, notes, gate=gate).run(lambda: False)


def queue_up(store: Store, matches: int) -> None:
    """Enter the quick bots, and queue this many matches between two of them."""
    versions = [add_bot(store, name, author="house", source=str(samples() / name)) for name in QUICK]
    dice = random.Random(7)  # noqa: S311 - a test's dice needn't be secret
    for number in range(matches):
        match = new_match(f"match{number}", dice.sample(versions, 2), deals=1)
        clock = Clock(move_millis=30_000, start_millis=60_000)
        store.queue.add(replace(match, clock=clock, runtime=RuntimeName.PROCESS))


class _Killer:
    """Kills and restarts members of a cluster, each right after a worker was given a match.

    So each kill loses at least one match. ``whom`` has the kinds of processes to kill, by the number of
    matches given to workers so far.
    """

    def __init__(self, cluster: Hosts, whom: dict[int, str]) -> None:
        self._cluster = cluster
        self._whom = whom
        self._started = 0
        self.notes = Notes(started=self._count)
        self.done: Counter[str] = Counter()

    def _count(self, worker: str) -> None:
        """Count a match given to a worker. If a kill is due, kill that worker or the scheduler."""
        self._started += 1
        kind = self._whom.get(self._started)
        if kind is None:
            return
        self.notes.killed = time.monotonic()
        if kind == "scheduler":
            self._cluster.kill("scheduler")
            self._cluster.start_scheduler()
        else:
            name = self._cluster.process_of(worker)
            self._cluster.kill(name)
            self._cluster.start_worker(name)
        self.done[kind] += 1


def _figures(store: Store, folder: str, killer: _Killer, run: tuple[int, float, float]) -> Figures:
    matches, begun, seconds = run
    notes = killer.notes
    database = Database(f"sqlite:///{Path(folder) / 'arena.sqlite3'}")
    with closing(database), database.read() as connection:

        def ask(question: str) -> int:
            return int(connection.execute(text(question)).scalar_one())

        done = ask("SELECT count(*) FROM match WHERE state = 'done'")
        games = ask("SELECT count(*) FROM game")
        single = ask("SELECT count(DISTINCT match_id) FROM game")
        numbered = ask("SELECT count(*) FROM game g JOIN rating_event e ON e.game_number = g.number")
        faults = ask("SELECT coalesce(sum(faults), 0) FROM game_seat")
    times = [begun, *notes.times]
    return Figures(
        matches=matches,
        kills=killer.done["worker"],
        scheduler_kills=killer.done["scheduler"],
        played=done,
        missing=matches - single,
        doubled=games - single + abs(games - numbered),
        quarantined=notes.quarantined,
        faults=faults,
        differing=store.ladder.rebuild().differing,
        lost=len(notes.lost),
        voided=len(notes.voided),
        late=notes.late,
        given=dict(notes.given),
        seconds=round(seconds, 1),
        longest_pause=round(max(after - before for before, after in pairwise(times)), 1),
        again=tuple(round(seconds, 2) for seconds in notes.again),
    )
