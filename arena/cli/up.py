"""``arena up``, ``arena coordinator`` and ``arena demo``: play rated games, with or without the site."""

from typing import TYPE_CHECKING, Annotated, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from arena.cli.console import WRONG, fail, say
from arena.cli.leaderboard import print_board
from arena.cli.playing import explained, settings_of_arena, warn_of_processes
from arena.protocol.match import RuntimeName

if TYPE_CHECKING:
    from arena.app.arena import Arena
    from arena.db.matches import Claim, FinishedMatch
    from arena.platform.settings import Settings


def up() -> None:
    """Run a whole arena on this machine: rated games, submissions, the site.

    On SIGTERM the arena finishes its running matches and starts no more. A second SIGTERM, or Ctrl-C,
    abandons them; the next run plays them again.
    """
    from arena.app.arena import open_arena
    from arena.app.playing import prepare
    from arena.app.site import check_port, serve

    with explained():
        settings = settings_of_arena()
        warn_of_processes(settings)
        check_port(settings)
        with open_arena(settings) as arena:
            prepare(arena, settings.sandbox, say)
            serve(settings, arena, say)


def coordinator() -> None:
    """Play rated games among the sample bots until SIGTERM or Ctrl-C; `python -m web` shows them."""
    from arena.app.arena import open_arena
    from arena.app.playing import Quiet, playing, prepare

    with explained():
        settings = settings_of_arena()
        warn_of_processes(settings)
        with open_arena(settings) as arena:
            prepare(arena, settings.sandbox, say)

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
        settings = settings_of_arena(terse=True)
        if sandbox is not None:
            settings = settings.model_copy(update={"sandbox": sandbox})
        _demo(settings, once=once)


def _demo(settings: "Settings", *, once: bool) -> None:
    from arena.app.arena import open_arena
    from arena.app.playing import prepare
    from arena.app.site import check_port, serve

    warn_of_processes(settings)
    if not once:
        check_port(settings)
    with open_arena(settings) as arena:
        prepare(arena, settings.sandbox, say)
        # If there are games already, skip the round to start the site sooner.
        quarantined = _play_round(arena) if once or not arena.store.activity.totals().games else 0
        if not once:
            serve(settings, arena, say)
        elif quarantined:
            fail(f"{quarantined} matches were quarantined because of arena faults: see above", WRONG)


def _play_round(arena: "Arena") -> int:
    """Play a round, print the leaderboard, and return how many matches were quarantined."""
    from arena.app.playing import playing

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

    def on_started(self, claim: "Claim", worker: str) -> None:
        """Do nothing."""

    def on_finished(self, match: "FinishedMatch") -> None:
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
