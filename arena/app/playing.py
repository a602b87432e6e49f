"""Plays rated games: the sample bots, startup, and signals that stop it."""

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

import docker

from arena.app.arena import Arena
from arena.db.matches import Claim, FinishedMatch
from arena.images.build.base import ensure_base_image
from arena.images.build.context import build_bot_image
from arena.play.botfiles import known, samples
from arena.protocol.languages import PYTHON
from arena.protocol.match import RuntimeName
from arena.scheduler.coordinator import Coordinator
from arena.scheduler.settling import Watcher


def house_bots(runtime: RuntimeName, say: Callable[[str], None]) -> tuple[tuple[str, str], ...]:
    """Return (name, source) of every sample bot; for containers, build missing images.

    Raises ImageTrouble.
    """
    folders = [samples() / name for name in known(samples())]
    if not folders:
        say(f"WARNING: no sample bots in {samples()}. Games start once other bots are entered.")
    if runtime is RuntimeName.PROCESS:
        return tuple((folder.name, str(folder.resolve())) for folder in folders)
    with closing(docker.from_env()) as client:
        ensure_base_image(client, PYTHON, say)
        return tuple((folder.name, _image(client, folder, say)) for folder in folders)


def _image(client: docker.DockerClient, folder: Path, say: Callable[[str], None]) -> str:
    say(f"building the image of {folder.name}, on {PYTHON.base_image}")
    return build_bot_image(client, folder)


_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Quiet:
    """Ignores all events. The log has the faults, and the site shows the rest."""

    def on_started(self, claim: Claim, worker: str) -> None:
        """Do nothing."""

    def on_finished(self, match: FinishedMatch) -> None:
        """Do nothing."""

    def on_voided(self, match: str, attempt: int, reason: str, *, quarantined: bool) -> None:
        """Do nothing."""

    def on_lost(self, match: str, attempt: int, reason: str, *, quarantined: bool) -> None:
        """Do nothing."""

    def on_dropped(self, match: str, attempt: int) -> None:
        """Do nothing: another attempt of the match counts."""

    def on_leases_kept(self, renewed: int, expired: int) -> None:
        """Do nothing."""


@contextmanager
def playing(arena: Arena, watcher: Watcher) -> Iterator[Coordinator]:
    """Open a coordinator that Ctrl-C and SIGHUP stop. The first SIGTERM drains it, a second one stops it."""

    def stop(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGTERM and not coordinator.draining:
            coordinator.drain()
        else:
            coordinator.stop()

    with arena.coordinator(watcher) as coordinator, ExitStack() as handlers:
        for number in _SIGNALS:
            handlers.callback(signal.signal, number, signal.signal(number, stop))
        yield coordinator
        if coordinator.stopped or coordinator.draining:
            # A second signal must not interrupt the cleanup.
            handlers.pop_all()
            for number in _SIGNALS:
                signal.signal(number, signal.SIG_IGN)


def prepare(arena: Arena, runtime: RuntimeName, say: Callable[[str], None]) -> None:
    """Report the remains of an earlier run, enter the sample bots, and test this host's sandbox controls.

    Raises ImageTrouble or RuntimeTrouble.
    """
    if arena.swept:
        say(f"removed {arena.swept} sandboxes of an earlier run")
    if arena.waiting_again:
        say(f"requeued {arena.waiting_again} unfinished matches of an earlier run")
    arena.enter_house_bots(house_bots(runtime, say), say)
    if arena.slots is not None:
        arena.check_host(say)
