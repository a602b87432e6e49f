"""``arena up``, ``arena coordinator`` and ``arena demo``: play rated games, with or without the site."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from typing import Annotated, Final, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from arena.app.arena import Arena, open_arena
from arena.app.folders import CannotStart
from arena.cli.console import WRONG, fail, say
from arena.cli.leaderboard import print_board
from arena.cli.playing import Quiet, explained, playing, prepare, settings_of_arena, warn_of_processes
from arena.db.matches import Claim, FinishedMatch
from arena.platform.settings import LogFormat, LogLevel, Settings
from arena.protocol.match import RuntimeName
from arena.scheduler.coordinator import Coordinator

_PR_SET_PDEATHSIG: Final = 1
_START_SECONDS: Final = 60
_END_SECONDS: Final = 8


def check_port(settings: Settings) -> None:
    """Check early that the site can listen. Raises CannotStart if its address is unusable or in use."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            raise CannotStart(
                f"the site can't listen on {settings.host}:{settings.port} ({error.strerror}): "
                "stop the program that uses it, or choose another port with ARENA_PORT"
            ) from error


@contextmanager
def site(settings: Settings) -> Iterator[subprocess.Popen[bytes]]:
    """Start the site, yield its process once it answers, and stop it afterwards.

    Raises CannotStart if the site does not answer.
    """
    process = subprocess.Popen(  # noqa: S603 - our own module with our own settings
        [sys.executable, "-m", "web", "--host", settings.host, "--port", str(settings.port)],
        env={
            **os.environ,
            "ARENA_DATA_DIR": str(settings.data_dir.absolute()),
            "ARENA_LOG_LEVEL": settings.log_level or "",
            "ARENA_LOG_FORMAT": settings.log_format,
        },
        # Ctrl-C in the terminal must reach only the arena, which stops the site after its matches.
        start_new_session=True,
        preexec_fn=_end_with_parent,  # noqa: PLW1509 - no other thread runs at this time
    )
    try:
        _await(process, settings)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _end_with_parent() -> None:
    """Have the kernel terminate this process when the arena's process dies."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _await(process: subprocess.Popen[bytes], settings: Settings) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        connection = HTTPConnection(settings.host, settings.port, timeout=1)
        try:
            connection.request("GET", "/healthz")
            if connection.getresponse().status == 200:  # noqa: PLR2004 - HTTP's own number
                return
        except (OSError, HTTPException):
            time.sleep(0.05)
        finally:
            connection.close()
    raise CannotStart("the site failed to start: see its output above")


def up() -> None:
    """Run a whole arena on this machine: rated games, submissions, the site.

    On SIGTERM the arena finishes its running matches and starts no more. A second SIGTERM, or Ctrl-C,
    abandons them; the next run plays them again.
    """
    with explained():
        settings = settings_of_arena()
        warn_of_processes(settings)
        check_port(settings)
        with open_arena(settings) as arena:
            prepare(arena, settings.sandbox)
            serve(settings, arena)


def serve(settings: Settings, arena: Arena) -> None:
    """Serve the site and play rated games until a signal arrives.

    Raises CannotStart if the site did not start, or stopped unexpectedly.
    """
    with site(settings) as process, playing(arena, Quiet()) as coordinator:
        say(f"site: http://{settings.host}:{settings.port}/")
        say("playing rated games; press Ctrl-C to stop")

        def refill() -> bool:
            arena.ladder.refill()
            return True

        alone = threading.Event()
        threading.Thread(target=_watch, args=(process, coordinator, alone), name="site", daemon=True).start()
        coordinator.run(refill)
        if alone.is_set():
            raise CannotStart(f"the site stopped with exit code {process.returncode}")
    say("stopped; nothing is left running")


def _watch(process: subprocess.Popen[bytes], coordinator: Coordinator, alone: threading.Event) -> None:
    """Drain the arena if its site stops unexpectedly, so that a supervisor restarts both."""
    process.wait()
    if not (coordinator.draining or coordinator.stopped):
        alone.set()
        coordinator.drain()


def coordinator() -> None:
    """Play rated games among the sample bots until SIGTERM or Ctrl-C; `python -m web` shows them."""
    with explained():
        settings = settings_of_arena()
        warn_of_processes(settings)
        with open_arena(settings) as arena:
            prepare(arena, settings.sandbox)

            def refill() -> bool:
                arena.ladder.refill()
                return True

            with playing(arena, Quiet()) as player:
                say("playing rated games; press Ctrl-C or send SIGTERM to stop")
                player.run(refill)
        say("stopped; nothing is left running")


def demo(
    *,
    once: Annotated[bool, typer.Option("--once", help="Stop after printing the leaderboard.")] = False,
    sandbox: Annotated[
        RuntimeName | None, typer.Option(help="Isolation of bots; process isolates nothing.")
    ] = None,
) -> None:
    """Play a rated round among the sample bots, print the leaderboard, serve the site and keep playing."""
    with explained():
        settings = settings_of_arena(LogLevel.WARNING, LogFormat.CONSOLE)
        if sandbox is not None:
            settings = settings.model_copy(update={"sandbox": sandbox})
        _demo(settings, once=once)


def _demo(settings: Settings, *, once: bool) -> None:
    warn_of_processes(settings)
    if not once:
        check_port(settings)
    with open_arena(settings) as arena:
        prepare(arena, settings.sandbox)
        # If there are games already, skip the round to start the site sooner.
        quarantined = _play_round(arena) if once or not arena.store.activity.totals().games else 0
        if not once:
            serve(settings, arena)
        elif quarantined:
            fail(f"{quarantined} matches were quarantined because of arena faults: see above", WRONG)


def _play_round(arena: Arena) -> int:
    """Play a round, print the leaderboard, and return how many matches were quarantined."""
    arena.ladder.ensure_round()
    with _Bar(arena.ladder.waiting()) as bar, playing(arena, bar) as coordinator:
        coordinator.run(lambda: False)
    if coordinator.stopped or coordinator.draining:
        raise KeyboardInterrupt
    print_board(arena.store.ratings.standings(), "Leaderboard")
    return bar.quarantined


class _Bar:
    """Shows a round's progress: a bar on a terminal, lines elsewhere."""

    def __init__(self, matches: int) -> None:
        self.quarantined = 0
        self._matches = matches
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

    def on_started(self, claim: Claim, worker: str) -> None:
        """Do nothing."""

    def on_finished(self, match: FinishedMatch) -> None:
        """Advance the bar."""
        self._played += 1
        self._games += len(match.games)
        self._progress.update(
            self._task, completed=self._played, description=f"rated matches ({self._games} games)"
        )
        if self._progress.disable:
            say(f"{self._played} of {self._matches} matches, {self._games} games")

    def on_voided(self, match: str, attempt: int, reason: str, *, quarantined: bool) -> None:
        """Count quarantined matches; the log has the reasons."""
        del match, attempt, reason
        self.quarantined += quarantined

    def on_lost(self, match: str, attempt: int, reason: str, *, quarantined: bool) -> None:
        """Count quarantined matches; the log has the reasons."""
        del match, attempt, reason
        self.quarantined += quarantined

    def on_dropped(self, match: str, attempt: int) -> None:
        """Do nothing: the match's other attempt counts."""

    def on_leases_kept(self, renewed: int, expired: int) -> None:
        """Do nothing."""
