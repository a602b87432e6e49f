"""``arena demo``: a round of rated games between the sample bots, the leaderboard, the site."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Annotated, Final, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from arena.bootstrap import Arena, CannotStart, open_arena
from arena.cli.board import print_board
from arena.cli.console import WRONG, fail
from arena.cli.house import house_bots
from arena.cli.site import check_port, site
from arena.coordinator import Coordinator, Watcher
from arena.images import ImageTrouble
from arena.match import RuntimeName
from arena.sandbox import RuntimeTrouble
from arena.settings import Settings, WrongSettings, read_settings
from arena.store import FinishedMatch, StoreError

_INTERRUPTED: Final = 130
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def demo(
    *,
    once: Annotated[bool, typer.Option("--once", help="End after the leaderboard has been printed.")] = False,
    sandbox: Annotated[
        RuntimeName | None, typer.Option(help="How bots are run; process isolates nothing.")
    ] = None,
) -> None:
    """Play a rated round among the sample bots, print the leaderboard, then serve the site and play on."""
    try:
        settings = read_settings()
        if sandbox is not None:
            settings = settings.model_copy(update={"sandbox": sandbox})
        _demo(settings, once=once)
    except WrongSettings as error:
        fail(str(error))
    except (CannotStart, StoreError, RuntimeTrouble, ImageTrouble) as error:
        fail(str(error), WRONG)
    except KeyboardInterrupt:
        _say("stopped; the same command goes on from here")
        raise typer.Exit(_INTERRUPTED) from None


def _demo(settings: Settings, *, once: bool) -> None:
    if settings.sandbox is RuntimeName.PROCESS:
        _say("WARNING: the bots run as plain processes. NOTHING IS ISOLATED: run only bots that you trust.")
    if not once:
        check_port(settings)
    with open_arena(settings) as arena:
        _tell_leftovers(arena)
        arena.ladder.enter_house_bots(house_bots(settings.sandbox, _say))
        arena.ladder.ensure_round()
        with _Bar(arena.store.reads.totals().matches_waiting) as bar, _playing(arena, bar) as coordinator:
            coordinator.run(lambda: False)
        if coordinator.stopped:
            raise KeyboardInterrupt
        print_board(arena.store.reads.leaderboard(), "Leaderboard")
        if bar.voided:
            fail("a match failed for a fault of the arena, see above; it will be played again", WRONG)
        if not once:
            _serve(settings, arena)


def _serve(settings: Settings, arena: Arena) -> None:
    with site(settings) as process, _playing(arena, _Quiet()) as coordinator:
        _say(f"the site is at http://{settings.host}:{settings.port}/")
        _say("more games are played; Ctrl-C ends both")

        def refill() -> bool:
            if process.poll() is not None:
                raise CannotStart(f"the site ended with exit code {process.returncode}")
            arena.ladder.add_set()
            return True

        coordinator.run(refill)
    _say("stopped; nothing is left running")


@contextmanager
def _playing(arena: Arena, watcher: Watcher) -> Iterator[Coordinator]:
    """Give a coordinator that Ctrl-C, SIGTERM and SIGHUP stop."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        coordinator.stop()

    with arena.coordinator(watcher) as coordinator, ExitStack() as handlers:
        for number in _SIGNALS:
            handlers.callback(signal.signal, number, signal.signal(number, stop))
        yield coordinator


class _Bar:
    """Shows how far a round has come: a bar on a terminal, lines elsewhere."""

    def __init__(self, matches: int) -> None:
        self.voided = 0
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

    def on_finished(self, match: FinishedMatch) -> None:
        """Move on."""
        self._played += 1
        self._games += len(match.games)
        self._progress.update(
            self._task, completed=self._played, description=f"rated matches ({self._games} games)"
        )
        if self._progress.disable:
            _say(f"{self._played} of {self._matches} matches, {self._games} games")

    def on_voided(self, match: str, reason: str) -> None:
        """Say it, and count it."""
        self.voided += 1
        _say(f"match {match} failed for a fault of the arena: {reason}")


class _Quiet:
    """Shows nothing but faults: the site shows the rest."""

    def on_finished(self, match: FinishedMatch) -> None:
        """Say nothing."""

    def on_voided(self, match: str, reason: str) -> None:
        """Say it."""
        _say(f"match {match} failed for a fault of the arena: {reason}")


def _tell_leftovers(arena: Arena) -> None:
    if arena.swept:
        _say(f"removed {arena.swept} sandboxes that an earlier run had left")
    if arena.waiting_again:
        _say(f"{arena.waiting_again} matches that an earlier run did not finish wait again")


def _say(text: str) -> None:
    typer.echo(f"arena: {text}", err=True)
