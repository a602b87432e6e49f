"""``arena admin`` commands for bots and their images, and helpers for all operators' commands."""

import logging
import os
import pwd
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from arena.cli.console import EXIT_FAILURE, EXIT_INTERRUPTED, Json, fail, print_json, print_table, say
from arena.images.image import IntakeError, Rejected
from arena.languages.registry import SOURCE_SUFFIXES
from arena.platform.names import WrongName
from arena.platform.speech import counted
from arena.protocol.controls import UntrustedBotsRefused
from arena.protocol.documents import BotList
from arena.protocol.match import RuntimeName
from arena.protocol.states import BotState

if TYPE_CHECKING:
    from arena.accounts.accounts import OperatorActions
    from arena.db.bots import KnownBot
    from arena.db.ladder import Rebuilt
    from arena.db.store import Store
    from arena.platform.settings import Settings
    from arena.services.operators import BotOperators


@contextmanager
def open_arena_store() -> Iterator[tuple["Settings", "Store"]]:
    """Open an arena's settings and store; turn errors into a message and an exit code."""
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
    """Open the operators' account operations. Errors are handled as in :func:`open_arena_store`."""
    from arena.accounts.accounts import open_accounts

    with open_arena_store() as (settings, store):
        yield open_accounts(store, settings.registration).operators


def operator_name() -> str:
    """Return the operator's name for the audit log: the user who is running this process."""
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
    from arena.images.build.context import ImageError
    from arena.ladder.matchmaking import TooFewBots
    from arena.platform.settings import WrongSettings
    from arena.sandbox.runtime import RuntimeFailure
    from arena.scheduler.coordinator import ArenaError

    try:
        yield
    except WrongSettings as error:
        fail(str(error))
    except (ArenaError, CannotStart, StoreError, RuntimeFailure, ImageError, TooFewBots) as error:
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


BotArgument = Annotated[str, typer.Argument(metavar="BOT", help="Name of the bot.")]
Reason = Annotated[str, typer.Option(help="Reason, shown publicly.")]

_COLUMNS = ("bot", "author", "state", "since (UTC)", "reason")


def bots(
    *,
    state: Annotated[BotState | None, typer.Option(help="Only bots in this state.")] = None,
    author: Annotated[str | None, typer.Option(help="Only bots by this author.")] = None,
    as_json: Json = False,
) -> None:
    """List bots with their active version, their state and the reason for it."""
    from arena.services.documents import bot_document

    with _open_bot_operators() as operators:
        found = list(operators.every(state=state, author=author))
    if as_json:
        print_json(BotList(bots=tuple(map(bot_document, found)), next=None))
    else:
        print_bots(found)


def bench(bot: BotArgument, reason: Reason) -> None:
    """Bench a bot until its author, a new version or you reactivate it."""
    with _open_bot_operators() as operators:
        _print(operators.bench(operator_name(), bot, reason))


def unbench(bot: BotArgument) -> None:
    """Reactivate a benched bot."""
    with _open_bot_operators() as operators:
        _print(operators.unbench(operator_name(), bot))


def retire(bot: BotArgument) -> None:
    """Take a bot off the ladder until its author, a new version or you reactivate it."""
    with _open_bot_operators() as operators:
        _print(operators.retire(operator_name(), bot))


def play_version(
    bot: BotArgument,
    version: Annotated[int, typer.Argument(min=1, metavar="N", help="Version to activate.")],
) -> None:
    """Activate another version of a bot, older or newer."""
    with _open_bot_operators() as operators:
        _print(operators.play_version(operator_name(), bot, version))


def disqualify(
    bot: BotArgument,
    reason: Reason,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask for confirmation.")] = False,
) -> None:
    """Take a bot off the ladder until it is reinstated, and recompute all ratings without its games."""
    with _open_bot_operators() as operators:
        known = operators.find(bot)
        if not yes:
            _confirm(f"Disqualify {known.name} by {known.author}, and recompute all ratings?")
        _print_rebuilt(operators.disqualify(operator_name(), bot, reason))
        _print(operators.find(bot))


def reinstate(bot: BotArgument) -> None:
    """Lift a disqualification, and recompute all ratings with the bot's games."""
    with _open_bot_operators() as operators:
        _print_rebuilt(operators.reinstate(operator_name(), bot))
        _print(operators.find(bot))


def print_bots(found: list["KnownBot"]) -> None:
    """Print bots as a table on stdout."""
    rows = [
        (
            f"{bot.name}@{bot.playing}",
            bot.author,
            bot.state.value,
            "" if bot.since is None else f"{bot.since:%Y-%m-%d %H:%M}",
            bot.reason or "",
        )
        for bot in found
    ]
    print_table(_COLUMNS, rows)


@contextmanager
def _open_bot_operators() -> Iterator["BotOperators"]:
    from arena.app.folders import utc_now
    from arena.services.operators import BotOperators

    with open_arena_store() as (_, store):
        yield BotOperators(store, utc_now)


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        fail("confirmation needed, but stdin is not a terminal: pass --yes")
    if not typer.confirm(question, err=True):
        say("cancelled; nothing changed")
        raise typer.Exit(EXIT_FAILURE)


def _print(bot: "KnownBot") -> None:
    typer.echo(f"{bot.name}@{bot.playing} {bot.state}")


def _print_rebuilt(rebuilt: "Rebuilt") -> None:
    typer.echo(f"{counted(rebuilt.events, 'event')} applied, {counted(rebuilt.ratings, 'rating')} changed")


_MIB: Final = 1024 * 1024


def add_bot(
    name: Annotated[str, typer.Argument(help="Name of the bot: letters, digits, - and _.")],
    file: Annotated[
        Path, typer.Argument(help=f"A docker save archive, or a single source file ({SOURCE_SUFFIXES}).")
    ],
    author: Annotated[str, typer.Option(help="Name of the bot's author.")],
) -> None:
    """Add a bot to the ladder on behalf of its author, even while the arena is running."""
    from arena.app.intake import open_submissions
    from arena.platform.settings import read_settings
    from arena.sandbox.runtime import LaunchRefused

    if (file / "Dockerfile").is_file():
        fail(
            f"{file} is a folder with a Dockerfile, and the arena doesn't build images. Build and save the "
            f"image yourself, then add the archive: docker build -t mybot {file} && docker save mybot -o "
            "mybot.tar"
        )
    if file.is_dir():
        fail(f"{file} is a folder: give a docker save archive or a source file")
    with exit_on_arena_error():
        try:
            with open_submissions(read_settings(), say) as submissions:
                done = submissions.submit(name, author, file)
        except (Rejected, LaunchRefused, UntrustedBotsRefused, WrongName) as error:
            fail(str(error))
        except IntakeError as error:
            fail(str(error), EXIT_FAILURE)
    size = sum(layer.size for layer in done.image.layers) / _MIB
    record_action("add-bot", f"bot:{done.bot}", f"version {done.version}, {done.image.id}")
    typer.echo(f"{done.bot}@{done.version} {done.image.id} {size:.1f} MiB")
    if not done.new:
        say(f"no new version: the latest version of {done.bot} has the same image")


def prune_images() -> None:
    """Remove the least recently used images of submitted bots until the rest fit within the quota."""
    from arena.app.intake import open_keeper
    from arena.platform.settings import read_settings

    with exit_on_arena_error():
        try:
            with open_keeper(read_settings()) as keeper:
                pruned = keeper.prune()
        except IntakeError as error:
            fail(str(error), EXIT_FAILURE)
    record_action("prune-images", detail=f"{len(pruned.images)} removed")
    typer.echo(
        f"images removed: {len(pruned.images)}, {pruned.freed / _MIB:.1f} MiB freed, "
        f"{pruned.left / _MIB:.1f} MiB in use"
    )
