"""A launcher over both runtimes."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import docker
import pytest

from arena.play.botfiles import Chooser
from arena.play.launcher.launcher import Launcher
from arena.protocol.faults import Fault
from arena.protocol.match import (
    Clock,
    GameRecord,
    Limits,
    MatchRecord,
    MatchSpec,
    RuntimeName,
    decode,
    encode,
    move_of,
    played_again,
)
from arena.rules import Rules, asked, view
from tests.sandbox.stage import DockerStage, ProcessStage, Stage

SEEDS = tuple(f"{number:032x}" for number in range(1, 9))


@dataclass(frozen=True, slots=True)
class Hall:
    """A place to play matches in."""

    stage: Stage
    launcher: Launcher
    folder: Path

    def spec(self, *programs: str, games: int = 1, clock: Clock | None = None) -> MatchSpec:
        """Return a match between these programs."""
        sources = {program: self.stage.source(program) for program in set(programs)}
        return MatchSpec(
            match="m",
            attempt=1,
            rules=Rules(players=len(programs)),
            seeds=SEEDS[:games],
            seats=tuple(sources[program] for program in programs),
            clock=clock or Clock(),
            limits=Limits(),
            runtime=RuntimeName.DOCKER if isinstance(self.stage, DockerStage) else RuntimeName.PROCESS,
        )

    def play(self, *programs: str, games: int = 1, clock: Clock | None = None) -> MatchRecord:
        """Play a match between these programs."""
        spec = self.spec(*programs, games=games, clock=clock)
        return decode(self.launcher.play(encode(spec), tuple(range(len(programs)))), MatchRecord)

    def leftovers(self) -> list[str]:
        """Return what is left of all matches."""
        return self.stage.leftovers() + [str(path) for path in self.folder.rglob("*")]


def faults(record: MatchRecord, seat: int, game: int | None = None) -> list[Fault]:
    """Return the faults of a seat, in a game or in all, in order."""
    games = record.games if game is None else [record.games[game]]
    decisions = [step[seat] for each in games for step in each.steps]
    return [decision.fault for decision in decisions if decision and decision.fault]


def check_choices(rules: Rules, game: GameRecord, choosers: Mapping[int, Chooser]) -> None:
    """See that these seats of a whole game chose, card by card, what their functions choose."""
    states = played_again(rules, game).states
    assert states[-1].over
    for state, step in zip(states, game.steps, strict=False):
        for seat in choosers.keys() & {*asked(state)}:
            decision = step[seat]
            assert decision is not None
            assert move_of(decision) == choosers[seat](view(state, seat))


def referees() -> list[int]:
    """Return the ids of this process's referees."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has just ended
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid() and b"arena.play.referee" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


@contextmanager
def hall_over(stage: Stage) -> Iterator[Hall]:
    """Give a hall over a stage, and see that nothing is left of its matches."""
    folder = Path(tempfile.mkdtemp(prefix="kaiten-h-"))  # short: an address holds 107 bytes
    folder.chmod(0o711)
    hall = Hall(stage, Launcher(stage.runtime, stage.install, folder), folder)
    try:
        yield hall
        assert hall.leftovers() == []
    finally:
        stage.runtime.sweep(stage.install)
        shutil.rmtree(folder)


@pytest.fixture
def process_hall() -> Iterator[Hall]:
    """Give a hall whose bots are plain processes."""
    with closing(ProcessStage()) as stage, hall_over(stage) as hall:
        yield hall


@pytest.fixture(scope="session")
def docker_stage(docker_client: docker.DockerClient, base_image: str) -> Iterator[DockerStage]:
    """Give a place for programs in containers, which builds the image of each once."""
    with closing(DockerStage(docker_client, base_image)) as stage:
        yield stage


@pytest.fixture
def docker_hall(docker_stage: DockerStage) -> Iterator[Hall]:
    """Give a hall whose bots are in containers."""
    with hall_over(docker_stage) as hall:
        yield hall


@pytest.fixture(params=["process", pytest.param("docker", marks=pytest.mark.docker)])
def hall(request: pytest.FixtureRequest) -> Hall:
    """Give a hall over each runtime in turn."""
    chosen: Hall = request.getfixturevalue(f"{request.param}_hall")
    return chosen
