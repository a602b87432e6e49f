"""Fixtures that play matches with a launcher on each runtime."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from arena.play.launcher.launcher import Launcher
from arena.protocol.faults import Fault
from arena.protocol.match import (
    Clock,
    GameRecord,
    MatchRecord,
    MatchSpec,
    RuntimeName,
    decode,
    encode,
    move_of,
    played_again,
)
from arena.rules import Rules, View, seats_to_move, view
from arena.sdk.bot import Choice
from tests.builders import match_spec
from tests.folders import short_folder
from tests.patience import WAIT_SECONDS
from tests.sandbox.conftest import docker_stage
from tests.sandbox.stage import DockerStage, ProcessStage, Stage

__all__ = ["docker_stage"]


@dataclass(frozen=True, slots=True)
class Hall:
    """A launcher with the bots' runtime and a folder for sockets."""

    stage: Stage
    launcher: Launcher
    folder: Path

    def spec(self, *programs: str, games: int = 1, clock: Clock | None = None) -> MatchSpec:
        """Return a match between these programs."""
        sources = {program: self.stage.source(program) for program in set(programs)}
        runtime = RuntimeName.DOCKER if isinstance(self.stage, DockerStage) else RuntimeName.PROCESS
        seats = [sources[program] for program in programs]
        return match_spec(seats, games=games, clock=clock, runtime=runtime)

    def play(self, *programs: str, games: int = 1, clock: Clock | None = None) -> MatchRecord:
        """Play a match between these programs."""
        spec = self.spec(*programs, games=games, clock=clock)
        return decode(self.launcher.play(encode(spec), tuple(range(len(programs)))), MatchRecord)

    def leftovers(self) -> list[str]:
        """Return everything that matches have left behind."""
        return self.stage.leftovers() + [str(path) for path in self.folder.rglob("*")]


def faults(record: MatchRecord, seat: int, game: int | None = None) -> list[Fault]:
    """Return the faults of a seat in one game, or in all games, in order."""
    games = record.games if game is None else [record.games[game]]
    decisions = [step[seat] for each in games for step in each.steps]
    return [decision.fault for decision in decisions if decision and decision.fault]


def check_choices(rules: Rules, game: GameRecord, choosers: Mapping[int, Callable[[View], Choice]]) -> None:
    """Check that, at every decision of a complete game, these seats chose what their functions choose."""
    states = played_again(rules, game).states
    assert states[-1].over
    for state, step in zip(states, game.steps, strict=False):
        for seat in choosers.keys() & {*seats_to_move(state)}:
            decision = step[seat]
            assert decision is not None
            assert move_of(decision) == choosers[seat](view(state, seat))


def referees() -> list[int]:
    """Return the process IDs of the referees that this process has started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # the process has just ended
            # Any process on the host may have a name that isn't UTF-8.
            parent = int((folder / "stat").read_bytes().rpartition(b")")[2].split()[1])
            if parent == os.getpid() and b"arena.play.referee" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


@pytest.fixture(autouse=True)
def _all_of_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the stderr of bots that have exited to its end, even on a busy host."""
    for runtime in ("process.runtime", "docker.sandbox"):
        monkeypatch.setattr(f"arena.sandbox.{runtime}._STDERR_SECONDS", 30)


@pytest.fixture
def awaited_exits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for the exit of each bot whose stream has ended, however long a busy host takes."""
    monkeypatch.setattr("arena.play.launcher.seats._EXIT_SECONDS", WAIT_SECONDS)


@contextmanager
def hall_over(stage: Stage) -> Iterator[Hall]:
    """Yield a hall on this stage, then check that its matches left nothing behind."""
    with short_folder() as folder:
        hall = Hall(stage, Launcher(stage.runtime, stage.install, folder), folder)
        try:
            yield hall
            assert hall.leftovers() == []
        finally:
            stage.runtime.sweep(stage.install)


@pytest.fixture
def process_hall() -> Iterator[Hall]:
    """Yield a hall whose bots are plain processes.

    The unprivileged referee can't enter its folder, which is closed. It needn't: it uses relative paths.
    """
    with closing(ProcessStage()) as stage, hall_over(stage) as hall:
        yield hall


@pytest.fixture
def docker_hall(docker_stage: DockerStage) -> Iterator[Hall]:
    """Yield a hall whose bots run in containers."""
    with hall_over(docker_stage) as hall:
        hall.folder.chmod(0o711)
        yield hall


@pytest.fixture(params=["process", pytest.param("docker", marks=pytest.mark.docker)])
def hall(request: pytest.FixtureRequest) -> Hall:
    """Return a hall on each runtime in turn."""
    chosen: Hall = request.getfixturevalue(f"{request.param}_hall")
    return chosen
