"""``arena admin``: bots, which version of each plays, and who is off the ladder."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from arena.bootstrap import utc_now
from arena.cli.console import WRONG, fail, say
from arena.cli.operating import opened_arena, who
from arena.cli.terminal import print_json, print_table
from arena.operators import BotOperators
from arena.store import BotState, KnownBot, Rebuilt

Bot = Annotated[str, typer.Argument(metavar="BOT", help="Its name.")]
Reason = Annotated[str, typer.Option(help="For everybody to read.")]

_COLUMNS = ("bot", "author", "state", "since (UTC)", "reason")


def bots(
    *,
    state: Annotated[BotState | None, typer.Option(help="Only those in this state.")] = None,
    author: Annotated[str | None, typer.Option(help="Only those of this author.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List bots with the version that plays, whether they play, and why not."""
    with _operating() as operators:
        found = list(operators.every(state=state, author=author))
    if as_json:
        print_json([plain(bot) for bot in found])
    else:
        print_bots(found)


def bench(bot: Bot, reason: Reason) -> None:
    """Let a bot sit out until its author, a new version or you bring it back."""
    with _operating() as operators:
        _print(operators.bench(who(), bot, reason))


def unbench(bot: Bot) -> None:
    """Let a bot that was benched play again."""
    with _operating() as operators:
        _print(operators.unbench(who(), bot))


def retire(bot: Bot) -> None:
    """Take a bot off the ladder; its author or a new version may bring it back."""
    with _operating() as operators:
        _print(operators.retire(who(), bot))


def play_version(
    bot: Bot,
    version: Annotated[int, typer.Argument(min=1, metavar="N", help="The version that is to play.")],
) -> None:
    """Let an older version of a bot play, or a newer one again."""
    with _operating() as operators:
        _print(operators.play_version(who(), bot, version))


def disqualify(
    bot: Bot,
    reason: Reason,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask whether you mean it.")] = False,
) -> None:
    """Take a bot off the ladder for good, and rate everybody anew without its games."""
    with _operating() as operators:
        known = operators.find(bot)
        if not yes:
            _confirm(f"Disqualify {known.name} of {known.author}, and rate all games anew without it?")
        _print_rebuilt(operators.disqualify(who(), bot, reason))
        _print(operators.find(bot))


def reinstate(bot: Bot) -> None:
    """Take a disqualification back, and rate everybody anew with the bot's games."""
    with _operating() as operators:
        _print_rebuilt(operators.reinstate(who(), bot))
        _print(operators.find(bot))


def plain(bot: KnownBot) -> dict[str, Any]:
    """Return a bot as what JSON is made of, under the names of the site's API."""
    return {
        "name": bot.name,
        "author": bot.author,
        "house": bot.house,
        "state": bot.state,
        "reason": bot.reason,
        "since": None if bot.since is None else bot.since.isoformat(),
        "version": bot.playing,
        "newest": bot.newest,
    }


def print_bots(found: list[KnownBot]) -> None:
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
def _operating() -> Iterator[BotOperators]:
    with opened_arena() as (_, store):
        yield BotOperators(store, utc_now)


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        fail("nobody is asked here whether this is meant: add --yes")
    if not typer.confirm(question, err=True):
        say("nothing was changed")
        raise typer.Exit(WRONG)


def _print(bot: KnownBot) -> None:
    typer.echo(f"{bot.name}@{bot.playing} {bot.state}")


def _print_rebuilt(rebuilt: Rebuilt) -> None:
    typer.echo(f"{rebuilt.events} events folded, {rebuilt.ratings} ratings changed")
