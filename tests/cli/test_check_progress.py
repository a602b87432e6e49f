"""Tests of how long a check follows its submission, and when it gives up."""

from dataclasses import dataclass, field

import pytest

from arena.app.local_check import STALL_TIMEOUT_SECONDS, CheckProgress
from arena.cli.submit import ProgressReporter
from arena.db.store import Store
from arena.protocol.submissions import Stage
from arena.scheduler.coordinator import ArenaError
from tests.accounts.world import World
from tests.db.builders import START, add_bot, claim_one
from tests.db.test_submissions import CAUSE, PLENTY, game, new, qualify


@dataclass
class Player:
    """Something that can be stopped."""

    stopped: bool = False

    def stop(self) -> None:
        """Record the stop."""
        self.stopped = True


@dataclass
class Scene:
    """A submission that a check follows, with a clock set by the test."""

    store: Store
    seconds: float = 100.0
    player: Player = field(default_factory=Player)

    def __post_init__(self) -> None:
        self.store.submissions.add(new(), PLENTY)
        telling = ProgressReporter(lambda: self.seconds)
        self.progress = CheckProgress(self.store.submissions, "u1", telling.update, clock=self.clock)

    def clock(self) -> float:
        """Return a time that is one second later on every call."""
        self.seconds += 1
        return self.seconds

    def await_game(self) -> bool:
        """Return whether the check should keep waiting."""
        return self.progress.await_game(self.player)


@pytest.fixture
def scene(world: World) -> Scene:
    """Return a received submission that a check follows."""
    return Scene(world.store)


def test_it_goes_on_while_a_game_waits(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    """The check waits for games that are queued or will be retried, but not while one is being played."""
    house = add_bot(scene.store, "greedy")
    qualify(scene.store)
    scene.store.submissions.add_game(game("m1", "u1", (None, house)), played=0)
    assert scene.await_game()
    taken = claim_one(scene.store)
    assert not scene.await_game()
    scene.store.leases.record_void(taken.spec.match, taken.spec.attempt, "the engine is away", START)
    scene.store.submissions.wait("u1", "the engine is away")
    for _ in range(round(STALL_TIMEOUT_SECONDS)):
        assert scene.await_game()
    assert not scene.player.stopped
    assert capsys.readouterr().err.splitlines() == [
        "arena: 100.0 s  qualifying: playing 3 unrated games",
        "arena: 100.0 s  waiting: the engine is away",
    ]


def test_the_end_stops_what_plays(scene: Scene) -> None:
    """At the end, the player is stopped, and the submission's whole document is known."""
    qualify(scene.store)
    scene.store.submissions.reject("u1", CAUSE, START)
    assert not scene.await_game()
    assert scene.player.stopped
    assert scene.progress.over
    assert scene.progress.source == "sha256:new"
    told = scene.progress.document
    assert (told["stage"], told["cause"]["exit_code"], list(told["games"])) == (Stage.REJECTED, 3, [])
    assert told["received"] == "2026-03-01T09:30:00Z"


def test_it_ends_if_it_is_stopped(scene: Scene) -> None:
    """For example, Ctrl-C ends it while the file is being inspected."""
    scene.player.stop()
    assert not scene.await_game()
    assert not scene.progress.over


def test_it_does_not_wait_forever_for_the_arena(scene: Scene) -> None:
    """If the arena doesn't retry in time, the check fails with the reason."""
    scene.store.submissions.wait("u1", "no room")
    with pytest.raises(ArenaError, match="no room"):
        scene.await_game()
    assert scene.seconds >= 100 + STALL_TIMEOUT_SECONDS


def test_a_game_that_this_host_cannot_play_ends_it(scene: Scene) -> None:
    """The check fails after three attempts, with the last one's reason."""
    house = add_bot(scene.store, "greedy")
    qualify(scene.store)
    scene.store.submissions.add_game(game("m1", "u1", (None, house)), played=0)
    for number in range(1, 4):
        assert scene.await_game()
        scene.store.leases.record_void(claim_one(scene.store).spec.match, number, f"fault {number}", START)
    with pytest.raises(ArenaError, match="a game failed: fault 3"):
        scene.await_game()
