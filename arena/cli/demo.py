"""``arena demo``: a round of rated games between the sample bots, the leaderboard, the site."""

from typing import Annotated, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from arena.bootstrap import Arena, open_arena
from arena.cli.board import print_board
from arena.cli.console import WRONG, fail, say
from arena.cli.playing import (
    explained,
    playing,
    prepare,
    settings_of_arena,
    warn_of_processes,
)
from arena.cli.site import check_port
from arena.cli.up import serve
from arena.match import RuntimeName
from arena.settings import LogFormat, LogLevel, Settings
from arena.store import Claim, FinishedMatch


def demo(
    *,
    once: Annotated[bool, typer.Option("--once", help="End after the leaderboard has been printed.")] = False,
    sandbox: Annotated[
        RuntimeName | None, typer.Option(help="How bots are run; process isolates nothing.")
    ] = None,
) -> None:
    """Play a rated round among the sample bots, print the leaderboard, then serve the site and play on."""
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
        # Where there are games already, those who follow them wait for the site and not for a round.
        put_aside = _play_round(arena) if once or not arena.store.reads.totals().games else 0
        if not once:
            serve(settings, arena)
        elif put_aside:
            fail(f"{put_aside} matches were put aside for faults of the arena, see above", WRONG)


def _play_round(arena: Arena) -> int:
    """Play a round, print the leaderboard, and return how many matches were put aside."""
    arena.ladder.ensure_round()
    with _Bar(arena.ladder.waiting()) as bar, playing(arena, bar) as coordinator:
        coordinator.run(lambda: False)
    if coordinator.stopped or coordinator.draining:
        raise KeyboardInterrupt
    print_board(arena.store.reads.leaderboard(), "Leaderboard")
    return bar.quarantined


class _Bar:
    """Shows how far a round has come: a bar on a terminal, lines elsewhere."""

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
        """Wait for its end."""

    def on_finished(self, match: FinishedMatch) -> None:
        """Move on."""
        self._played += 1
        self._games += len(match.games)
        self._progress.update(
            self._task, completed=self._played, description=f"rated matches ({self._games} games)"
        )
        if self._progress.disable:
            say(f"{self._played} of {self._matches} matches, {self._games} games")

    def on_voided(self, match: str, attempt: int, reason: str, *, quarantined: bool) -> None:
        """Count what is given up; the log tells of it."""
        del match, attempt, reason
        self.quarantined += quarantined

    def on_lost(self, match: str, attempt: int, reason: str, *, quarantined: bool) -> None:
        """Count what is given up; the log tells of it."""
        del match, attempt, reason
        self.quarantined += quarantined

    def on_dropped(self, match: str, attempt: int) -> None:
        """Wait for the end of its other attempt."""

    def on_leases_kept(self, renewed: int, expired: int) -> None:
        """Go on waiting."""
