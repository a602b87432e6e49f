"""``arena status`` and related commands for the user's bots, versions and submissions."""

from collections.abc import Sequence
from http import HTTPStatus
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from arena.cli.console import Json, at_version, echo, fail, print_json, print_table, say
from arena.cli.leaderboard import percent
from arena.cli.login import logged_in_site
from arena.client.games import part
from arena.client.sites import SiteProblem
from arena.platform.names import WrongName, check_name
from arena.platform.text import visible
from arena.protocol.bots import Bot, RatedResult, Version
from arena.protocol.submissions import Submission

if TYPE_CHECKING:
    from arena.client.site import SiteClient

_MAX_VERSIONS: Final = 1000

Name = Annotated[str, typer.Argument(metavar="BOT", help="Name of the bot.")]


def versions(bot: Name, *, as_json: Json = False) -> None:
    """List a bot's versions, newest first, with their results."""
    with logged_in_site() as site:
        response = list(islice(site.pages(f"/bots/{part(bot)}/versions", "versions"), _MAX_VERSIONS))
        if as_json:
            print_json({"versions": response, "next": None})
        else:
            print_versions([site.read(each, Version) for each in response])


def rollback(
    bot: Name,
    version: Annotated[int, typer.Argument(min=1, help="Version to activate.")],
) -> None:
    """Activate an older or newer version of your bot."""
    _change(bot, {"version": version})


def retire(bot: Name) -> None:
    """Take your bot off the ladder. Its queued and running games are still played."""
    _change(bot, {"state": "retired"})


def return_(bot: Name) -> None:
    """Reactivate your benched or retired bot."""
    _change(bot, {"state": "active"})


def print_versions(known: Sequence[Version]) -> None:
    """Print versions as a table on stdout."""
    columns = ("version", "active", "created", "games", "score", "place", "win %", "image", "note")
    print_table(
        columns,
        [_version_row(version) for version in known],
        numbers=("version", "games", "score", "place", "win %"),
    )


def _version_row(version: Version) -> tuple[str, ...]:
    overall = next((result for result in version.results if not result.players), None)
    return (
        str(version.number),
        "active" if version.playing else "",
        f"{version.created.astimezone():%Y-%m-%d %H:%M}",
        *_figures(overall),
        "stored" if version.available else "removed",
        version.note or "",
    )


def _figures(result: RatedResult | None) -> tuple[str, ...]:
    if result is None:
        return "0", "-", "-", "-"
    score, place = f"{result.score:.2f}", "-" if result.mean_place is None else f"{result.mean_place:.2f}"
    return str(result.games), score, place, percent(result.wins / result.games if result.games else None)


def _change(bot: str, change: dict[str, object]) -> None:
    with logged_in_site() as site:
        changed = site.read(site.patch(f"/bots/{part(bot)}", change), Bot)
    name, state = visible(changed.name), visible(changed.state)
    say(f"{name}@{changed.version} is active" if state == "active" else f"{name} is {state}")


_LAST: Final = 10
"""Number of versions, and of submissions, to show for one bot."""

_MANY: Final = 100


def status(
    bot: Annotated[str | None, typer.Argument(help="Name of your bot. Default: all your bots.")] = None,
    *,
    as_json: Json = False,
) -> None:
    """Show your bots and your submissions in progress, or one bot's versions and submissions."""
    with logged_in_site() as site:
        if bot is None:
            _show_all(site, as_json=as_json)
        else:
            _show_bot(site, bot, as_json=as_json)


def _show_all(site: "SiteClient", *, as_json: bool) -> None:
    bots = list(site.pages("/account/bots", "bots"))
    newest = islice(site.pages("/submissions", "submissions", limit=_MANY), _MANY)
    open_submissions = [each for each in newest if site.read(each, Submission).ended is None]
    if as_json:
        print_json({"bots": bots, "submissions": open_submissions})
        return
    known = [site.read(each, Bot) for each in bots]
    if known:
        print_table(("bot", "active", "latest", "state"), [_row(each) for each in known])
    if known and open_submissions:
        typer.echo()
    _print_submissions(site, open_submissions)
    for each in known:
        _notice(each)
    if not known and not open_submissions:
        say("no bots yet: submit one with `arena submit BOT`")


def _show_bot(site: "SiteClient", name: str, *, as_json: bool) -> None:
    try:
        check_name(name, "bot")
    except WrongName as error:
        fail(str(error))
    bot: Any = None
    versions: list[Any] = []
    try:
        bot = site.get(f"/bots/{part(name)}")
        versions = list(islice(site.pages(f"/bots/{part(name)}/versions", "versions", limit=_LAST), _LAST))
    except SiteProblem as problem:
        if problem.status != HTTPStatus.NOT_FOUND:
            raise
    submissions = list(islice(site.pages("/submissions", "submissions", bot=name, limit=_LAST), _LAST))
    if bot is None and not submissions:
        fail(f"there is no bot called {visible(name)}, and you have not submitted one")
    if as_json:
        print_json({"bot": bot, "versions": versions, "submissions": submissions})
        return
    if bot is not None:
        known = site.read(bot, Bot)
        echo(f"{known.name}@{known.version} {known.state}")
        typer.echo()
        print_versions([site.read(each, Version) for each in versions])
        _notice(known)
    if bot is not None and submissions:
        typer.echo()
    _print_submissions(site, submissions)


def _row(bot: Bot) -> tuple[str, ...]:
    active = f"{bot.name}@{bot.version}" if bot.state == "active" else "-"
    return bot.name, active, str(bot.newest), bot.state


def _print_submissions(site: "SiteClient", response: list[Any]) -> None:
    if not response:
        return
    rows = []
    for each in response:
        one = site.read(each, Submission)
        name = at_version(one.bot, one.version)
        why = f"{one.cause.kind}: {one.cause.text}" if one.cause else one.waiting or ""
        stage = f"{one.stage} (check)" if one.check_only else one.stage
        rows.append((one.id, f"{one.received.astimezone():%Y-%m-%d %H:%M}", name, stage, why))
    print_table(("submission", "received", "bot", "stage", "why"), rows)


def _notice(bot: Bot) -> None:
    """Print why a bot is not playing, and how to reactivate it."""
    name, why = visible(bot.name), visible(bot.reason or "no reason given")
    match bot.state:
        case "benched":
            say(f"{name} is benched: {why}. Submit a new version or run `arena return {name}`")
        case "retired":
            say(f"{name} is retired. To reactivate it: `arena return {name}`")
        case "disqualified":
            say(f"{name} is disqualified: {why}. Only an operator can change that")
        case _:
            pass
