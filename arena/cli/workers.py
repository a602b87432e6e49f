"""``arena workers``: who plays matches, with how many seats, and what."""

from typing import Annotated, Any

import typer

from arena.bootstrap import utc_now
from arena.cli.console import say
from arena.cli.operating import opened_arena
from arena.cli.terminal import print_json, print_table
from arena.store import KnownWorker, OpenMatch

Seen = list[tuple[KnownWorker, list[OpenMatch]]]


def workers(*, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show who plays matches, how many of their seats are taken, and what they play."""
    with opened_arena() as (_, store):
        running = store.reads.workload(utc_now()).running
        seen = [(worker, _played_by(worker, running)) for worker in store.leases.workers()]
    if as_json:
        print_json([_plain(worker, matches) for worker, matches in seen])
        return
    if not seen:
        say("nobody plays: no coordinator has been heard of in the last half minute, or it has no workers")
        return
    columns = ("worker", "host", "seats", "busy", "plays", "since", "note")
    print_table(columns, _rows(seen), numbers=("seats", "busy"))


def _played_by(worker: KnownWorker, running: tuple[OpenMatch, ...]) -> list[OpenMatch]:
    by = (worker.coordinator, worker.status.name)
    return [match for match in running if (match.coordinator, match.worker) == by]


def _rows(seen: Seen) -> list[tuple[str, ...]]:
    """Return a line a match, and one for a worker without any; the worker stands in its first one."""
    rows: list[tuple[str, ...]] = []
    for worker, matches in seen:
        status = worker.status
        first = (status.name, status.host, str(status.seats), str(status.busy))
        note = "doubted" if status.doubted else ""
        for match in matches:
            since = f"{match.started.astimezone():%H:%M:%S}"
            rows.append((*first, f"{match.match}: {' '.join(_names(match))}", since, note))
            first, note = ("", "", "", ""), ""
        if not matches:
            rows.append((*first, "", "", note))
    return rows


def _names(match: OpenMatch) -> list[str]:
    return [bot if version is None else f"{bot}@{version}" for bot, version in match.seats]


def _plain(worker: KnownWorker, matches: list[OpenMatch]) -> dict[str, Any]:
    return {
        "worker": worker.status.name,
        "host": worker.status.host,
        "coordinator": worker.coordinator,
        "seats": worker.status.seats,
        "busy": worker.status.busy,
        "doubted": worker.status.doubted,
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
