"""Helpers for operators' commands: they open the arena's store and turn errors into messages."""

import logging
import os
import pwd
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import typer

from arena.cli.console import EXIT_FAILURE, EXIT_INTERRUPTED, fail, say
from arena.platform.names import WrongName
from arena.protocol.match import RuntimeName

if TYPE_CHECKING:
    from arena.accounts.accounts import OperatorActions
    from arena.db.store import Store
    from arena.platform.settings import Settings


@contextmanager
def open_arena_store() -> Iterator[tuple["Settings", "Store"]]:
    """Read an arena's settings and open its store; turn errors into a message and an exit code."""
    from arena.accounts.errors import AccountError
    from arena.app.folders import CannotStart, open_results
    from arena.db.errors import StoreError
    from arena.platform.settings import WrongSettings, read_settings
    from arena.services.operators import OperationRefused

    try:
        settings = read_settings()
        with closing(open_results(settings)) as store:
            yield settings, store
    except (AccountError, CannotStart, OperationRefused, StoreError, WrongName, WrongSettings) as error:
        fail(str(error))


@contextmanager
def operating() -> Iterator["OperatorActions"]:
    """Yield the operators' actions on accounts. Errors are handled as in :func:`open_arena_store`."""
    from arena.accounts.accounts import open_accounts

    with open_arena_store() as (settings, store):
        yield open_accounts(store, settings.registration).operators


def operator_name() -> str:
    """Return the operator's name for the audit log: ``terminal:`` followed by the process's user name."""
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        name = str(os.getuid())
    return f"terminal:{name}"


def record_action(what: str, subject: str = "", detail: str = "") -> None:
    """Record an operator's action in the audit log."""
    with operating() as operators:
        operators.record(operator_name(), what, subject, detail)


@contextmanager
def exit_on_arena_error() -> Iterator[None]:
    """Turn an error that stops a command into a message and an exit code."""
    from arena.app.folders import CannotStart
    from arena.db.errors import StoreError
    from arena.ladder.matchmaking import TooFewBots
    from arena.platform.settings import WrongSettings
    from arena.sandbox.runtime import RuntimeFailure
    from arena.scheduler.coordinator import ArenaError

    try:
        yield
    except WrongSettings as error:
        fail(str(error))
    except (ArenaError, CannotStart, StoreError, RuntimeFailure, TooFewBots) as error:
        fail(str(error), EXIT_FAILURE)
    except KeyboardInterrupt:
        say("stopped; run the same command again to resume")
        raise typer.Exit(EXIT_INTERRUPTED) from None


def settings_of_arena(*, terse: bool = False) -> "Settings":
    """Read the settings and configure logging.

    ``terse`` changes the defaults to the log level "warning" and the console format. Raises WrongSettings.
    """
    from arena.platform.logs import configure_logs, log_uncaught
    from arena.platform.settings import LogFormat, LogLevel, read_settings

    settings = read_settings()
    log_level = settings.log_level or (LogLevel.WARNING if terse else LogLevel.INFO)
    form = LogFormat.CONSOLE if terse and settings.log_format is LogFormat.AUTO else settings.log_format
    configure_logs(form, log_level)
    log_uncaught()
    return settings.model_copy(update={"log_level": log_level, "log_format": form})


def warn_of_processes(settings: "Settings") -> None:
    """Warn if bots are not isolated."""
    if settings.sandbox is RuntimeName.PROCESS:
        say(
            "WARNING: bots run as plain processes. NOTHING IS ISOLATED. Run only bots that you trust.",
            logging.WARNING,
        )
