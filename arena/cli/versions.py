"""``arena versions``, ``rollback``, ``retire`` and ``return``: which version of a bot plays, if any."""

from collections.abc import Sequence
from itertools import islice
from typing import Annotated, Final

import typer

from arena.cli.console import say
from arena.cli.online import part, visiting
from arena.cli.terminal import print_json, print_table
from arena.client.documents import Bot, Result, Version
from arena.speech import visible

_MOST: Final = 1000

Name = Annotated[str, typer.Argument(metavar="BOT", help="Its name.")]


def versions(
    bot: Name, *, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False
) -> None:
    """List a bot's versions with their results, newest first."""
    with visiting() as site:
        told = list(islice(site.pages(f"/bots/{part(bot)}/versions", "versions"), _MOST))
        if as_json:
            print_json(told)
        else:
            print_versions([site.read(each, Version) for each in told])


def rollback(
    bot: Name,
    version: Annotated[int, typer.Argument(min=1, help="The number of the version that is to play.")],
) -> None:
    """Let an older version of your bot play, or a newer one again."""
    _say(_changed(bot, {"version": version}))


def retire(bot: Name) -> None:
    """Take your bot off the ladder. Games that are under way are played to their end."""
    _say(_changed(bot, {"state": "retired"}))


def return_(bot: Name) -> None:
    """Let your bot play again after it was benched or retired."""
    _say(_changed(bot, {"state": "active"}))


def print_versions(known: Sequence[Version]) -> None:
    """Print versions as a table on stdout."""
    columns = ("version", "plays", "made", "games", "score", "place", "win %", "image", "note")
    print_table(
        columns, [_row(version) for version in known], numbers=("version", "games", "score", "place", "win %")
    )


def _row(version: Version) -> tuple[str, ...]:
    overall = next((result for result in version.results if not result.players), None)
    return (
        str(version.number),
        "plays" if version.playing else "",
        f"{version.created.astimezone():%Y-%m-%d %H:%M}",
        *_figures(overall),
        "kept" if version.available else "gone",
        version.note or "",
    )


def _figures(result: Result | None) -> tuple[str, ...]:
    if result is None or not result.games:
        return "0", "-", "-", "-"
    place = "-" if result.mean_place is None else f"{result.mean_place:.2f}"
    return str(result.games), f"{result.score:.2f}", place, f"{100 * result.wins / result.games:.0f}"


def _changed(name: str, change: dict[str, object]) -> Bot:
    with visiting() as site:
        return site.read(site.patch(f"/bots/{part(name)}", change), Bot)


def _say(bot: Bot) -> None:
    name = visible(bot.name)
    say(f"{name}@{bot.version} plays" if bot.state == "active" else f"{name} is {visible(bot.state)}")
