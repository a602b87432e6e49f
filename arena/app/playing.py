"""Plays rated games, with or without the site; handles startup, sample bots and shutdown signals."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import FrameType
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from arena.app.arena import Arena
from arena.app.folders import CannotStart
from arena.db.matches import FinishedMatch
from arena.images.build.base import ensure_base_image
from arena.images.build.context import build_bot_image
from arena.languages.python import PYTHON
from arena.platform.settings import Address, Settings
from arena.platform.text import counted
from arena.play.botfiles import bot_names, samples
from arena.protocol.match import RuntimeName
from arena.sandbox.builder import ImageBuilder
from arena.sandbox.factory import open_builder
from arena.scheduler.coordinator import Coordinator
from arena.scheduler.settling import AttemptFailed, MatchEvent, Watcher


def house_bots(runtime: RuntimeName, say: Callable[[str], None]) -> tuple[tuple[str, str], ...]:
    """Return the (name, source) pairs of all sample bots. If bots run in containers, build missing images.

    Raises RuntimeFailure.
    """
    folders = [samples() / name for name in bot_names(samples())]
    if not folders:
        say(f"WARNING: no sample bots in {samples()}. Games start once other bots have been added.")
    if runtime is RuntimeName.PROCESS:
        return tuple((folder.name, str(folder.resolve())) for folder in folders)
    with closing(open_builder(runtime)) as builder:
        ensure_base_image(builder, PYTHON, say)
        return tuple((folder.name, _image(builder, folder, say)) for folder in folders)


def _image(builder: ImageBuilder, folder: Path, say: Callable[[str], None]) -> str:
    say(f"building the image for {folder.name} from {PYTHON.base_image}")
    return build_bot_image(builder, folder)


_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def playing(arena: Arena, *watchers: Watcher) -> Iterator[Coordinator]:
    """Open a coordinator. Ctrl-C and SIGHUP stop it. The first SIGTERM drains it; the second stops it."""

    def stop(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGTERM and not coordinator.draining:
            coordinator.drain()
        else:
            coordinator.stop()

    with arena.coordinator(*watchers) as coordinator, ExitStack() as handlers:
        for number in _SIGNALS:
            handlers.callback(signal.signal, number, signal.signal(number, stop))
        yield coordinator
        if coordinator.stopped or coordinator.draining:
            # A second signal must not interrupt the cleanup.
            handlers.pop_all()
            for number in _SIGNALS:
                signal.signal(number, signal.SIG_IGN)


class RoundBar:
    """Shows a round's progress: a bar on a terminal, lines elsewhere."""

    def __init__(self, matches: int, say: Callable[[str], None]) -> None:
        self.quarantined = 0
        self._matches = matches
        self._say = say
        self._played = 0
        self._games = 0
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        console = Console(stderr=True)
        self._progress = Progress(*columns, console=console, disable=not console.is_terminal)
        self._task = self._progress.add_task("rated matches", total=matches)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def update(self, event: MatchEvent) -> None:
        """Advance the bar, or count a quarantined match. The log says why it was quarantined."""
        match event:
            case FinishedMatch():
                self._played += 1
                self._games += len(event.games)
                games = counted(self._games, "game")
                self._progress.update(
                    self._task, completed=self._played, description=f"rated matches ({games})"
                )
                if self._progress.disable:
                    self._say(f"{self._played} of {self._matches} matches, {games}")
            case AttemptFailed():
                self.quarantined += event.quarantined


def refill(arena: Arena) -> bool:
    """Queue more rated matches. Return True, because there are always more."""
    arena.ladder.refill()
    return True


def prepare(arena: Arena, say: Callable[[str], None]) -> None:
    """Report the remains of an earlier run, enter the sample bots, and test this host's sandbox controls.

    Raises RuntimeFailure.
    """
    if arena.swept:
        say(f"removed sandboxes left over from an earlier run: {arena.swept}")
    if arena.requeued:
        say(f"requeued matches left unfinished by an earlier run: {arena.requeued}")
    arena.enter_house_bots(house_bots(arena.ladder.runtime, say), say)
    if arena.slots is not None:
        arena.check_host(say)


_PR_SET_PDEATHSIG: Final = 1
# Looked up before any fork, because another thread may hold the loader's lock at the moment of a fork.
_prctl: Final = ctypes.CDLL(None).prctl
_START_TIMEOUT_SECONDS: Final = 60
_STOP_TIMEOUT_SECONDS: Final = 8


def check_port(settings: Settings) -> None:
    """Check early that the site can listen. Raises CannotStart if its address is unusable or in use."""
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
        family, _, _, _, address = found[0]
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:  # as for the site's socket
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            probe.bind(address)
    except OSError as error:
        raise CannotStart(
            f"the site can't listen on {Address(settings.host, settings.port)} ({error.strerror}): stop the "
            "program that is using it, choose another port with ARENA_PORT, or correct ARENA_HOST"
        ) from error


@contextmanager
def site(settings: Settings) -> Iterator[subprocess.Popen[bytes]]:
    """Start the site, yield its process once it responds, and stop it afterwards.

    Raises CannotStart if the site fails to start.
    """
    process = subprocess.Popen(  # noqa: S603 - our own module with our own settings
        # -P: files in the current folder must not replace modules.
        [sys.executable, "-P", "-m", "web", "--host", settings.host, "--port", str(settings.port)],
        env={
            **os.environ,
            "ARENA_DATA_DIR": str(settings.data_dir.absolute()),
            "ARENA_SANDBOX": settings.sandbox.value,
            "ARENA_LOG_LEVEL": settings.log_level or "",
            "ARENA_LOG_FORMAT": settings.log_format,
        },
        # Ctrl-C in the terminal must reach only the arena, which stops its matches before the site.
        start_new_session=True,
        preexec_fn=_end_with_parent,  # noqa: PLW1509 - only calls prctl
    )
    try:
        _await_site(process, settings)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _end_with_parent() -> None:
    """Have the kernel terminate this process when the arena's process dies."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _await_site(process: subprocess.Popen[bytes], settings: Settings) -> None:
    deadline = time.monotonic() + _START_TIMEOUT_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        connection = HTTPConnection(settings.host, settings.port, timeout=1)
        try:
            connection.request("GET", "/healthz")
            if connection.getresponse().status == HTTPStatus.OK:
                return
        except (OSError, HTTPException):
            time.sleep(0.05)
        finally:
            connection.close()
    raise CannotStart("the site failed to start: see its output above")


def serve(settings: Settings, arena: Arena, say: Callable[[str], None]) -> None:
    """Serve the site and play rated games until a signal arrives.

    Raises CannotStart if the site fails to start or stops unexpectedly.
    """
    with site(settings) as process, playing(arena) as coordinator:
        say(f"site: http://{Address(settings.host, settings.port)}/")
        say("playing rated games; press Ctrl-C to stop")
        site_ended = threading.Event()
        threading.Thread(
            target=_watch_site, args=(process, coordinator, site_ended), name="site", daemon=True
        ).start()
        coordinator.run(lambda: refill(arena))
        if site_ended.is_set():
            raise CannotStart(f"the site stopped with exit code {process.returncode}: see its output above")
    say("stopped; nothing is left running")


def _watch_site(
    process: subprocess.Popen[bytes], coordinator: Coordinator, site_ended: threading.Event
) -> None:
    """Drain the coordinator if the site stops unexpectedly, so that a supervisor restarts both."""
    process.wait()
    if not (coordinator.draining or coordinator.stopped):
        site_ended.set()
        coordinator.drain()
