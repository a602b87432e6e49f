"""``arena admin`` commands for bots and their images."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from arena.cli.console import EXIT_FAILURE, Json, fail, print_json, print_table, public, say
from arena.cli.operating import exit_on_arena_error, open_arena_store, operator_name, record_action
from arena.images.image import IntakeError, Rejected
from arena.languages.registry import SOURCE_SUFFIXES
from arena.platform.names import WrongName
from arena.platform.text import counted
from arena.protocol.bots import Bot, BotList
from arena.protocol.sandbox_controls import UntrustedBotsRefused
from arena.protocol.states import BotState

if TYPE_CHECKING:
    from arena.db.bots import KnownBot
    from arena.db.ladder import Rebuilt
    from arena.services.operators import BotOperators


BotArgument = Annotated[str, typer.Argument(metavar="BOT", help="Name of the bot.")]
Reason = Annotated[str, typer.Option(help="Reason, shown publicly.")]

_COLUMNS = ("bot", "author", "state", "since (UTC)", "reason")


def bots(
    *,
    state: Annotated[BotState | None, typer.Option(help="Only bots in this state.")] = None,
    author: Annotated[str | None, typer.Option(help="Only bots by this author.")] = None,
    as_json: Json = False,
) -> None:
    """List bots with their active version, their state and the reason for that state."""
    with _open_bot_operators() as operators:
        found = tuple(operators.every(state=state, author=author))
    if as_json:
        print_json(BotList(bots=public(found, Bot), next=None))
    else:
        print_bots(found)


def bench(bot: BotArgument, reason: Reason) -> None:
    """Bench a bot until you or its author reactivates it, or a new version becomes active."""
    with _open_bot_operators() as operators:
        _print(operators.bench(operator_name(), bot, reason))


def unbench(bot: BotArgument) -> None:
    """Reactivate a benched bot."""
    with _open_bot_operators() as operators:
        _print(operators.unbench(operator_name(), bot))


def retire(bot: BotArgument) -> None:
    """Take a bot off the ladder until you or its author reactivates it, or a new version becomes active."""
    with _open_bot_operators() as operators:
        _print(operators.retire(operator_name(), bot))


def play_version(
    bot: BotArgument,
    version: Annotated[int, typer.Argument(min=1, max=1_000_000, metavar="N", help="Version to activate.")],
) -> None:
    """Activate an older or newer version of a bot."""
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
            _confirm(f"Disqualify {known.author}'s bot {known.name}, and recompute all ratings?")
        _print_rebuilt(operators.disqualify(operator_name(), bot, reason))
        _print(operators.find(bot))


def reinstate(bot: BotArgument) -> None:
    """Lift a disqualification, and recompute all ratings with the bot's games."""
    with _open_bot_operators() as operators:
        _print_rebuilt(operators.reinstate(operator_name(), bot))
        _print(operators.find(bot))


def print_bots(found: Iterable[Bot]) -> None:
    """Print bots as a table on stdout."""
    rows = [
        (
            f"{bot.name}@{bot.version}",
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
    typer.echo(f"{bot.name}@{bot.version} {bot.state}")


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
            f"{file} is a folder with a Dockerfile, which the arena doesn't build. Build and save the "
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
