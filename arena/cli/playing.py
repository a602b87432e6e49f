"""What the commands that play rated games have in common: how they begin, end, and speak."""

import logging
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Final

import typer

from arena.bootstrap import Arena, CannotStart
from arena.cli.console import INTERRUPTED, WRONG, fail, say
from arena.cli.house import house_bots
from arena.coordinator import ArenaTrouble, Coordinator, Watcher
from arena.images import ImageTrouble
from arena.logs import configure_logs, log_what_nobody_caught
from arena.match import RuntimeName
from arena.matchmaking import TooFewBots
from arena.sandbox import RuntimeTrouble
from arena.settings import LogFormat, LogLevel, Settings, WrongSettings, read_settings
from arena.store import Claim, FinishedMatch, StoreError

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Quiet:
    """Says nothing: the log tells of faults, and the site shows the rest."""

    def on_started(self, claim: Claim, worker: str) -> None:
        """Say nothing."""

    def on_finished(self, match: FinishedMatch) -> None:
        """Say nothing."""

    def on_voided(self, match: str, attempt: int, reason: str, *, quarantined: bool) -> None:
        """Say nothing."""

    def on_lost(self, match: str, attempt: int, reason: str, *, quarantined: bool) -> None:
        """Say nothing."""

    def on_dropped(self, match: str, attempt: int) -> None:
        """Say nothing: it was played again, and that counts."""

    def on_leases_kept(self, renewed: int, expired: int) -> None:
        """Say nothing."""


@contextmanager
def explained() -> Iterator[None]:
    """Turn what stops a command into a sentence and an exit code."""
    try:
        yield
    except WrongSettings as error:
        fail(str(error))
    except (ArenaTrouble, CannotStart, StoreError, RuntimeTrouble, ImageTrouble, TooFewBots) as error:
        fail(str(error), WRONG)
    except KeyboardInterrupt:
        say("stopped; the same command goes on from here")
        raise typer.Exit(INTERRUPTED) from None


def settings_of_arena(usual: LogLevel = LogLevel.INFO, usual_format: LogFormat = LogFormat.AUTO) -> Settings:
    """Read the settings and let the log begin.

    Args:
        usual: The least that is logged, where the settings don't say.
        usual_format: How it is written, where they don't say that.

    Raises:
        WrongSettings: One of them can't be used.
    """
    settings = read_settings()
    least = settings.log_level or usual
    form = usual_format if settings.log_format is LogFormat.AUTO else settings.log_format
    configure_logs(form, least)
    log_what_nobody_caught()
    return settings.model_copy(update={"log_level": least, "log_format": form})


@contextmanager
def playing(arena: Arena, watcher: Watcher) -> Iterator[Coordinator]:
    """Give a coordinator that Ctrl-C and SIGHUP stop; SIGTERM first lets it end what it plays."""

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
            # Who has asked to end gets no second chance to disturb the cleaning up.
            handlers.pop_all()
            for number in _SIGNALS:
                signal.signal(number, signal.SIG_IGN)


def prepare(arena: Arena, runtime: RuntimeName) -> None:
    """Say what an earlier run left, enter the sample bots, and try what this host can hold.

    Raises:
        ImageTrouble: An image can't be made.
        RuntimeTrouble: The engine does not answer.
    """
    if arena.swept:
        say(f"removed {arena.swept} sandboxes that an earlier run had left")
    if arena.waiting_again:
        say(f"{arena.waiting_again} matches that an earlier run did not finish wait again")
    arena.enter_house_bots(house_bots(runtime, say), say)
    if arena.slots is not None:
        arena.check_host(say)


def warn_of_processes(settings: Settings) -> None:
    """Say it loudly where nothing is isolated."""
    if settings.sandbox is RuntimeName.PROCESS:
        say(
            "WARNING: the bots run as plain processes. NOTHING IS ISOLATED: run only bots that you trust.",
            logging.WARNING,
        )
