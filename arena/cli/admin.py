"""``arena admin`` commands for bots, ``arena workers``, and helpers of all operators' commands."""

import os
import pwd
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.console import WRONG, fail, print_json, print_table, say
from arena.protocol.match import RefusedWorker
from arena.protocol.states import BotState

if TYPE_CHECKING:
    from arena.accounts.accounts import Operators
    from arena.db.bots import KnownBot
    from arena.db.ladder import Rebuilt
    from arena.db.leases import KnownWorker
    from arena.db.queue import OpenMatch
    from arena.db.store import Store
    from arena.platform.settings import Settings
    from arena.services.operators import BotOperators


@contextmanager
def opened_arena() -> Iterator[tuple["Settings", "Store"]]:
    """Open an arena's settings and store; turn errors into a message and an exit code."""
    from arena.accounts.errors import AccountError
    from arena.app.folders import CannotStart, open_results
    from arena.db.errors import StoreError
    from arena.platform.names import WrongName
    from arena.platform.settings import WrongSettings, read_settings
    from arena.services.operators import OperationRefused

    try:
        settings = read_settings()
        with closing(open_results(settings)) as store:
            yield settings, store
    except (AccountError, CannotStart, OperationRefused, StoreError, WrongName, WrongSettings) as error:
        fail(str(error))


@contextmanager
def operating() -> Iterator["Operators"]:
    """Open the account operations of operators; otherwise like :func:`opened_arena`."""
    from arena.accounts.accounts import open_accounts

    with opened_arena() as (settings, store):
        yield open_accounts(store, settings.registration).operators


def who() -> str:
    """Return the operator's name for the audit log: the user running this process."""
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        name = str(os.getuid())
    return f"terminal:{name}"


def write_down(what: str, subject: str = "", detail: str = "") -> None:
    """Record an operator's action in the audit log."""
    with operating() as operators:
        operators.record(who(), what, subject, detail)


Bot = Annotated[str, typer.Argument(metavar="BOT", help="Name of the bot.")]
Reason = Annotated[str, typer.Option(help="Reason, shown publicly.")]

_COLUMNS = ("bot", "author", "state", "since (UTC)", "reason")


def bots(
    *,
    state: Annotated[BotState | None, typer.Option(help="Only bots in this state.")] = None,
    author: Annotated[str | None, typer.Option(help="Only bots of this author.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List bots with their active version, their state and the reason for it."""
    with _operating() as operators:
        found = list(operators.every(state=state, author=author))
    if as_json:
        print_json([plain(bot) for bot in found])
    else:
        print_bots(found)


def bench(bot: Bot, reason: Reason) -> None:
    """Bench a bot until its author, a new version or you reactivate it."""
    with _operating() as operators:
        _print(operators.bench(who(), bot, reason))


def unbench(bot: Bot) -> None:
    """Reactivate a benched bot."""
    with _operating() as operators:
        _print(operators.unbench(who(), bot))


def retire(bot: Bot) -> None:
    """Take a bot off the ladder; its author or a new version can reactivate it."""
    with _operating() as operators:
        _print(operators.retire(who(), bot))


def play_version(
    bot: Bot,
    version: Annotated[int, typer.Argument(min=1, metavar="N", help="Version to activate.")],
) -> None:
    """Activate another version of a bot, older or newer."""
    with _operating() as operators:
        _print(operators.play_version(who(), bot, version))


def disqualify(
    bot: Bot,
    reason: Reason,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask for confirmation.")] = False,
) -> None:
    """Take a bot off the ladder permanently, and recompute all ratings without its games."""
    with _operating() as operators:
        known = operators.find(bot)
        if not yes:
            _confirm(f"Disqualify {known.name} of {known.author}, and recompute all ratings?")
        _print_rebuilt(operators.disqualify(who(), bot, reason))
        _print(operators.find(bot))


def reinstate(bot: Bot) -> None:
    """Revoke a disqualification, and recompute all ratings with the bot's games."""
    with _operating() as operators:
        _print_rebuilt(operators.reinstate(who(), bot))
        _print(operators.find(bot))


def plain(bot: "KnownBot") -> dict[str, Any]:
    """Return a bot as JSON data, with the field names of the site's API."""
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
def _operating() -> Iterator["BotOperators"]:
    from arena.app.folders import utc_now
    from arena.services.operators import BotOperators

    with opened_arena() as (_, store):
        yield BotOperators(store, utc_now)


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        fail("confirmation needed, but stdin is not a terminal: pass --yes")
    if not typer.confirm(question, err=True):
        say("cancelled; nothing changed")
        raise typer.Exit(WRONG)


def _print(bot: "KnownBot") -> None:
    typer.echo(f"{bot.name}@{bot.playing} {bot.state}")


def _print_rebuilt(rebuilt: "Rebuilt") -> None:
    typer.echo(f"{rebuilt.events} events applied, {rebuilt.ratings} ratings changed")


Seen = list[tuple["KnownWorker", list["OpenMatch"]]]


def workers(*, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show the workers, how many of their slots are in use, and the matches they play."""
    from arena.app.folders import utc_now

    with opened_arena() as (_, store):
        running = store.activity.workload(utc_now()).running
        seen = [(worker, _played_by(worker, running)) for worker in store.leases.workers()]
        refused = store.leases.refused()
    if as_json:
        print_json([*(_plain(worker, matches) for worker, matches in seen), *map(_refusal, refused)])
        return
    if not seen:
        say("no workers: no coordinator has reported in the last 30 seconds, or none has a worker")
    rows = [*_rows(seen), *map(_refused_row, refused)]
    if rows:
        columns = ("worker", "host", "slots", "in use", "match", "since", "note")
        print_table(columns, rows, numbers=("slots", "in use"))


def _played_by(worker: "KnownWorker", running: tuple["OpenMatch", ...]) -> list["OpenMatch"]:
    by = (worker.coordinator, worker.status.name)
    return [match for match in running if (match.coordinator, match.worker) == by]


def _rows(seen: Seen) -> list[tuple[str, ...]]:
    """Return one row per match, naming each worker once, and one row per idle worker."""
    rows: list[tuple[str, ...]] = []
    for worker, matches in seen:
        status = worker.status
        first = (status.name, status.host, str(status.seats), str(status.busy))
        note = "on probation" if status.doubted else ""
        if status.usable is not None:
            note = f"{note}, busy host: limited to {status.usable} slots".removeprefix(", ")
        for match in matches:
            since = f"{match.started.astimezone():%H:%M:%S}"
            rows.append((*first, f"{match.match}: {' '.join(_names(match))}", since, note))
            first, note = ("", "", "", ""), ""
        if not matches:
            rows.append((*first, "", "", note))
    return rows


def _refused_row(worker: RefusedWorker) -> tuple[str, ...]:
    since = f"{worker.since.astimezone():%Y-%m-%d %H:%M:%S}"
    return (worker.name, worker.host, "", "", "", since, f"rejected: {worker.reason}")


def _refusal(worker: RefusedWorker) -> dict[str, Any]:
    return {
        "worker": worker.name,
        "host": worker.host,
        "refused": worker.reason,
        "since": worker.since.isoformat(),
    }


def _names(match: "OpenMatch") -> list[str]:
    return [bot if version is None else f"{bot}@{version}" for bot, version in match.seats]


def _plain(worker: "KnownWorker", matches: list["OpenMatch"]) -> dict[str, Any]:
    return {
        "worker": worker.status.name,
        "host": worker.status.host,
        "coordinator": worker.coordinator,
        "seats": worker.status.seats,
        "busy": worker.status.busy,
        "doubted": worker.status.doubted,
        "usable": worker.status.usable,
        "plays": [
            {
                "match": match.match,
                "kind": match.kind.value,
                "seats": [{"bot": bot, "version": version} for bot, version in match.seats],
                "since": match.started.isoformat(),
            }
            for match in matches
        ],
    }
