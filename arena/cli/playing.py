"""Settings, logs and errors of the commands that play rated games."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from arena.cli.console import INTERRUPTED, WRONG, fail, say
from arena.protocol.match import RuntimeName

if TYPE_CHECKING:
    from arena.platform.settings import Settings


@contextmanager
def explained() -> Iterator[None]:
    """Turn an error that stops a command into a message and an exit code."""
    from arena.app.folders import CannotStart
    from arena.db.errors import StoreError
    from arena.images.build.context import ImageTrouble
    from arena.ladder.matchmaking import TooFewBots
    from arena.platform.settings import WrongSettings
    from arena.sandbox.runtime import RuntimeTrouble
    from arena.scheduler.coordinator import ArenaTrouble

    try:
        yield
    except WrongSettings as error:
        fail(str(error))
    except (ArenaTrouble, CannotStart, StoreError, RuntimeTrouble, ImageTrouble, TooFewBots) as error:
        fail(str(error), WRONG)
    except KeyboardInterrupt:
        say("stopped; run the same command again to resume")
        raise typer.Exit(INTERRUPTED) from None


def settings_of_arena(*, terse: bool = False) -> "Settings":
    """Read the settings and configure logging.

    If ``terse``, the defaults are warnings only, for a console. Raises WrongSettings.
    """
    from arena.platform.logs import configure_logs, log_uncaught
    from arena.platform.settings import LogFormat, LogLevel, read_settings

    settings = read_settings()
    least = settings.log_level or (LogLevel.WARNING if terse else LogLevel.INFO)
    form = LogFormat.CONSOLE if terse and settings.log_format is LogFormat.AUTO else settings.log_format
    configure_logs(form, least)
    log_uncaught()
    return settings.model_copy(update={"log_level": least, "log_format": form})


def warn_of_processes(settings: "Settings") -> None:
    """Warn if bots are not isolated."""
    if settings.sandbox is RuntimeName.PROCESS:
        say(
            "WARNING: bots run as plain processes. NOTHING IS ISOLATED. Run only bots that you trust.",
            logging.WARNING,
        )
