"""Plays matches with the arena's launcher, in containers or plain processes."""

import itertools
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import docker

from arena.app.host import slots_of_host
from arena.images.build.base import ensure_base_image
from arena.images.build.context import build_bot_image
from arena.languages.python import PYTHON
from arena.play.launcher.launcher import Launcher
from arena.protocol.match import Clock, Limits, MatchRecord, MatchSpec, RuntimeName, decode, encode
from arena.rules import Rules
from arena.sandbox.docker.engine import connect
from arena.sandbox.docker.runtime import DockerRuntime
from arena.sandbox.factory import open_builder
from arena.sandbox.process.runtime import ProcessRuntime
from arena.sandbox.runtime import INSTALL_LABEL, Runtime, SandboxSpec
from benchmarks.processes import exit_on_sigterm

_SLOTS: Final = slots_of_host()

LIMITS: Final = Limits(cpus=_SLOTS.share)
"""The arena's limits: a bot has the same share of the host as in a rated game."""

_CLOCK: Final = Clock(start_millis=60_000, move_millis=10_000, bank_millis=60_000)
"""Long times, so that bots aren't absent on a busy host."""

_BOT: Final = Path(__file__).parent / "bot"


@dataclass(frozen=True, slots=True)
class Hall:
    """A launcher and its runtime, which play matches."""

    runtime: Runtime
    name: RuntimeName
    slots: int  # number of bots that may run on this host at the same time
    _install: str
    _launcher: Launcher
    _folder: Path
    _sources: dict[int, str] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def runs_containers(self) -> bool:
        """True if bots run in containers and are therefore not child processes."""
        return self.name is RuntimeName.DOCKER

    def spec(self, *, games: int, at_once: int, players: int = 2) -> MatchSpec:
        """Return a match between the benchmark's bots, which play ``at_once`` of the games concurrently."""
        return MatchSpec(
            match=str(next(self._numbers)),
            attempt=1,
            rules=Rules(players=players),
            seeds=tuple(f"{number:032x}" for number in range(games)),
            seats=(self._source(at_once),) * players,
            clock=_CLOCK,
            limits=LIMITS,
            runtime=self.name,
        )

    def play(self, spec: MatchSpec, first_slot: int = 0) -> MatchRecord:
        """Play a match."""
        slots = tuple(range(first_slot, first_slot + spec.rules.players))
        return decode(self._launcher.play(encode(spec), slots), MatchRecord)

    @contextmanager
    def lone_bot(self) -> Iterator[SandboxSpec]:
        """Yield the specification of one bot that starts without a referee."""
        folder = self._folder / "lone"
        folder.mkdir(mode=0o711)
        try:
            yield SandboxSpec(
                name=f"arena-{self._install}-{next(self._numbers)}-1-0",
                source=self._source(1),
                socket_dir=folder,
                slot=0,
                deadline_seconds=600,
                limits=LIMITS,
                labels={INSTALL_LABEL: self._install},
            )
        finally:
            folder.rmdir()

    def _source(self, at_once: int) -> str:
        """Return the image or the folder of the bot that plays ``at_once`` games concurrently."""
        if at_once not in self._sources:
            folder = self._folder / f"bench-{at_once}"
            shutil.copytree(_BOT, folder, ignore=shutil.ignore_patterns("__pycache__"))
            (folder / "games_at_once").write_text(str(at_once))
            self._sources[at_once] = self.image(folder) if self.name is RuntimeName.DOCKER else str(folder)
        return self._sources[at_once]

    @staticmethod
    def image(folder: Path) -> str:
        """Return the image of the bot in a folder."""
        with closing(open_builder(RuntimeName.DOCKER)) as builder:
            ensure_base_image(builder, PYTHON)
            return build_bot_image(builder, folder)


@contextmanager
def open_hall(
    name: RuntimeName, engine: Callable[[], docker.APIClient] = connect, container_runtime: str | None = None
) -> Iterator[Hall]:
    """Open a hall. At the end, remove everything except the bots' images, which speed up the next run.

    ``engine`` returns the client that creates containers. ``container_runtime`` is the container runtime's
    name in the engine; None means the default. After this call, SIGTERM ends the program as Ctrl-C does, so
    that it leaves nothing behind.
    """
    exit_on_sigterm()
    install = f"bench-{secrets.token_hex(4)}"
    folder = Path(tempfile.mkdtemp(prefix="kaiten-b-"))  # short: a socket's path can have at most 107 bytes
    folder.chmod(0o711)
    docked = name is RuntimeName.DOCKER
    runtime = DockerRuntime(engine(), runtime=container_runtime) if docked else ProcessRuntime()
    launcher = Launcher(runtime, install, folder)
    slots = _SLOTS.size
    try:
        yield Hall(runtime, name, slots, install, launcher, folder)
    finally:
        launcher.stop()
        runtime.sweep(install)
        runtime.close()
        shutil.rmtree(folder)
