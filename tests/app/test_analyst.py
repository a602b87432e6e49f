"""Tests of a running arena's analyst, with real processes and a real store."""

import os
import signal
import subprocess
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

import arena.app.analyst as app_analyst
from arena.app.analyst import HostAnalyst, analyst
from arena.db.store import Store
from arena.play.analysis.analyst import ANALYST, VERSION, analyse, house_bots
from arena.play.analysis.grading import puzzle_in
from arena.play.botfiles import samples
from arena.play.replay.document import parse
from arena.rules import Rules
from tests.accounts.world import World
from tests.builders import BOTS, add_bots, play_matches
from tests.demo.running import children
from tests.patience import WAIT_SECONDS, wait_until
from tests.web.stable import fill_games

LONG = 100_000
"""A number of playouts that would take too long."""


def now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)


@pytest.fixture
def store(world: World) -> Store:
    """Return a store with games."""
    world.filled(fill_games)
    return world.store


def is_analyst(pid: int) -> bool:
    """Return whether a process is an analyst that has started."""
    words = Path(f"/proc/{pid}/cmdline").read_bytes()
    return b"arena.play.analysis" in words and os.sched_getscheduler(pid) == os.SCHED_IDLE


@pytest.fixture
def short_games(world: World) -> Store:
    """Return a store with two games that have as few decisions as possible."""
    seating = add_bots(world.store, BOTS)[:2]
    play_matches(world.store, [seating], Rules(players=2), name="two")
    return world.store


def test_games_are_analysed_one_after_another(short_games: Store) -> None:
    """An analysis depends only on the game and the number of playouts. The first puzzle is today's."""
    store = short_games
    replay = parse(store.analyses.next_replay(ANALYST, VERSION) or "")
    HostAnalyst(store, 2, lambda: True, now).analyse_next()
    found = store.analyses.find(replay.game)
    assert found is not None
    expected = analyse(replay, playouts=2)
    assert (found.turns, found.turning_points) == (expected.turns, expected.turning_points)
    assert {name for each in found.decisions for name in each.house} == house_bots(samples()).keys()
    puzzle = store.puzzles.find(store.puzzles.newest(now().date(), 1)[0])
    assert puzzle is not None
    assert (puzzle.game, puzzle.decision) == (replay.game, puzzle_in(found))
    assert parse(store.analyses.next_replay(ANALYST, VERSION) or "").game != replay.game


@pytest.mark.parametrize("playouts", [0, 8])
def test_nothing_is_analysed_without_playouts_or_room(store: Store, playouts: int) -> None:
    """Nothing is analysed if there are no playouts, or while the host is busy."""
    asked = threading.Event()

    def busy() -> bool:
        asked.set()
        return False

    before = store.analyses.next_replay(ANALYST, VERSION)
    with analyst(store, playouts, busy, now, seconds=0.01):
        assert asked.wait(WAIT_SECONDS if playouts else 0) == bool(playouts)
    assert store.analyses.next_replay(ANALYST, VERSION) == before


def test_an_analyst_gets_only_idle_time_and_ends_with_the_arena(store: Store) -> None:
    """The analyst stops immediately. Its unfinished game can still be analysed."""
    before = store.analyses.next_replay(ANALYST, VERSION)
    earlier = children()
    with analyst(store, LONG, lambda: True, now, seconds=0.01):
        wait_until(lambda: any(is_analyst(pid) for pid in children() - earlier), "an analyst")
    assert children() - earlier == set()
    assert store.analyses.next_replay(ANALYST, VERSION) == before


def test_a_killed_process_costs_one_game_its_turn(store: Store) -> None:
    """After a kill, the arena continues with the next game."""
    before = parse(store.analyses.next_replay(ANALYST, VERSION) or "").game
    earlier = children()
    made = HostAnalyst(store, LONG, lambda: True, now)
    looking = threading.Thread(target=made.analyse_next)
    looking.start()
    wait_until(lambda: bool(children() - earlier), "a process")
    for pid in children() - earlier:
        os.kill(pid, signal.SIGKILL)
    looking.join(WAIT_SECONDS)
    assert not looking.is_alive()
    assert store.analyses.find(before) is None
    looking = threading.Thread(target=made.analyse_next)
    looking.start()
    wait_until(lambda: bool(children() - earlier), "a process")
    made.close()
    looking.join(WAIT_SECONDS)
    assert not looking.is_alive()
    assert made.failed == {before}


def test_a_process_that_has_ended_before_it_gets_its_replay_has_failed() -> None:
    """The failed write counts as a failure. The pipe keeps the unwritten data, so closing it fails too."""
    with subprocess.Popen(["true"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S607 - on every system
        process.wait()
        assert app_analyst._request_analysis(process, "{}") is None  # noqa: SLF001 - no other way to hit this moment
    assert process.returncode == 0


def test_an_arena_that_has_just_started_plays_first(store: Store) -> None:
    """The first analysis starts only some time after the arena."""
    asked = threading.Event()

    def idle() -> bool:
        asked.set()
        return False

    with analyst(store, 8, idle, now):
        assert not asked.wait(0.5)
