"""``arena status``: one's bots, their versions and submissions."""

from itertools import islice
from typing import Annotated, Any, Final

import typer

from arena.cli.console import echo, fail, say
from arena.cli.online import part, visiting
from arena.cli.terminal import print_json, print_table
from arena.cli.versions import print_versions
from arena.client.documents import Bot, Submission, Version
from arena.client.errors import SiteProblem
from arena.client.site import Site
from arena.speech import visible

_LAST: Final = 10
"""Versions and submissions that are shown of a bot."""

_MANY: Final = 100
_NOT_FOUND: Final = 404


def status(
    bot: Annotated[str | None, typer.Argument(help="One of yours; without, all of them.")] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show your bots, and what is on its way; of one bot its versions and submissions."""
    with visiting() as site:
        if bot is None:
            _all(site, as_json=as_json)
        else:
            _one(site, bot, as_json=as_json)


def _all(site: Site, *, as_json: bool) -> None:
    bots = list(site.pages("/account/bots", "bots"))
    newest = islice(site.pages("/submissions", "submissions", limit=_MANY), _MANY)
    on_their_way = [each for each in newest if site.read(each, Submission).ended is None]
    if as_json:
        print_json({"bots": bots, "submissions": on_their_way})
        return
    known = [site.read(each, Bot) for each in bots]
    if known:
        print_table(("bot", "plays", "newest", "state"), [_row(each) for each in known])
    if known and on_their_way:
        typer.echo()
    _print_submissions(site, on_their_way)
    for each in known:
        _notice(each)
    if not known and not on_their_way:
        say("you have no bots yet: arena submit BOT")


def _one(site: Site, name: str, *, as_json: bool) -> None:
    bot: Any = None
    versions: list[Any] = []
    try:
        bot = site.get(f"/bots/{part(name)}")
        versions = list(islice(site.pages(f"/bots/{part(name)}/versions", "versions", limit=_LAST), _LAST))
    except SiteProblem as problem:
        if problem.status != _NOT_FOUND:
            raise
    submissions = list(islice(site.pages("/submissions", "submissions", bot=name, limit=_LAST), _LAST))
    if bot is None and not submissions:
        fail(f"there is no bot {visible(name)}, and you have not submitted one of that name")
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
    plays = f"{bot.name}@{bot.version}" if bot.state == "active" else "-"
    return bot.name, plays, str(bot.newest), bot.state


def _print_submissions(site: Site, told: list[Any]) -> None:
    if not told:
        return
    rows = []
    for each in told:
        one = site.read(each, Submission)
        name = one.bot if one.version is None else f"{one.bot}@{one.version}"
        why = f"{one.cause.kind}: {one.cause.text}" if one.cause else one.waiting or ""
        rows.append((one.id, f"{one.received.astimezone():%Y-%m-%d %H:%M}", name, one.stage, why))
    print_table(("submission", "received", "bot", "stage", "why"), rows)


def _notice(bot: Bot) -> None:
    """Say what keeps a bot from playing, and what brings it back."""
    name, why = visible(bot.name), visible(bot.reason or "no reason was given")
    match bot.state:
        case "benched":
            say(f"{name} is benched: {why}. A new version brings it back, or `arena return {name}`")
        case "retired":
            say(f"{name} is retired. `arena return {name}` lets it play again")
        case "disqualified":
            say(f"{name} is disqualified: {why}. Whoever runs the arena can change that")
        case _:
            pass
