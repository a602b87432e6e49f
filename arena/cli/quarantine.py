"""``arena admin quarantine`` and ``release``: matches that were put aside."""

from typing import Annotated, Any

import typer

from arena.bootstrap import utc_now
from arena.cli.operating import opened_arena, who
from arena.cli.terminal import print_json, print_table
from arena.operators import QuarantineOperators
from arena.store import QuarantinedMatch

_COLUMNS = ("match", "kind", "since (UTC)", "tries", "bots", "reason")


def quarantine(*, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the matches that were put aside because the arena failed them three times, the last one first."""
    with opened_arena() as (_, store):
        found = QuarantineOperators(store, utc_now).every()
    if as_json:
        print_json([_plain(match) for match in found])
    else:
        print_table(_COLUMNS, [_row(match) for match in found])


def release(match: Annotated[str, typer.Argument(metavar="MATCH", help="Its id.")]) -> None:
    """Let a match that was put aside wait again, as if it had never failed."""
    with opened_arena() as (_, store):
        QuarantineOperators(store, utc_now).release(who(), match)
    typer.echo(f"{match} waiting")


def _plain(match: QuarantinedMatch) -> dict[str, Any]:
    return {
        "match": match.match,
        "kind": match.kind,
        "since": match.since.isoformat(),
        "attempts": match.attempts,
        "seats": [{"bot": bot, "version": version} for bot, version in match.seats],
        "reason": match.reason,
    }


def _row(match: QuarantinedMatch) -> tuple[str, ...]:
    names = [bot if version is None else f"{bot}@{version}" for bot, version in match.seats]
    return (
        match.match,
        match.kind.value,
        f"{match.since:%Y-%m-%d %H:%M}",
        str(match.attempts),
        ", ".join(names),
        match.reason,
    )
