"""Commands for the processes of an arena and of its cluster."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.admin import explained, opened_arena, settings_of_arena, warn_of_processes
from arena.cli.console import WRONG, Json, fail, print_json, print_table, say
from arena.cli.leaderboard import board_of, print_board
from arena.protocol.match import RefusedWorker, RuntimeName

if TYPE_CHECKING:
    from arena.app.arena import Arena
    from arena.db.leases import KnownWorker
    from arena.db.queue import OpenMatch
    from arena.platform.settings import Settings


def up() -> None:
    """Run a whole arena on this machine: rated games, submissions, the site.

    On SIGTERM the arena finishes its running matches and starts no more. A second SIGTERM, or Ctrl-C,
    abandons them; the next run plays them again.
    """
    from arena.app.arena import open_arena
    from arena.app.playing import check_port, prepare, serve

    with explained():
        settings = settings_of_arena()
        warn_of_processes(settings)
        check_port(settings)
        with open_arena(settings) as arena:
            prepare(arena, settings.sandbox, say)
            serve(settings, arena, say)


def coordinator() -> None:
    """Play rated games among the sample bots until SIGTERM or Ctrl-C; `python -m web` shows them."""
    from arena.app.arena import open_arena
    from arena.app.playing import playing, prepare, refilled

    with explained():
        settings = settings_of_arena()
        warn_of_processes(settings)
        with open_arena(settings) as arena:
            prepare(arena, settings.sandbox, say)
            with playing(arena) as player:
                say("playing rated games; press Ctrl-C or send SIGTERM to stop")
                player.run(lambda: refilled(arena))
        say("stopped; nothing is left running")


def demo(
    *,
    once: Annotated[bool, typer.Option("--once", help="Stop after printing the leaderboard.")] = False,
    sandbox: Annotated[
        RuntimeName | None, typer.Option(help="Isolation of bots; process isolates nothing.")
    ] = None,
) -> None:
    """Play a rated round among the sample bots, print the leaderboard, serve the site and keep playing."""
    with explained():
        settings = settings_of_arena(terse=True)
        if sandbox is not None:
            settings = settings.model_copy(update={"sandbox": sandbox})
        _demo(settings, once=once)


def _demo(settings: "Settings", *, once: bool) -> None:
    from arena.app.arena import open_arena
    from arena.app.playing import check_port, prepare, serve

    warn_of_processes(settings)
    if not once:
        check_port(settings)
    with open_arena(settings) as arena:
        prepare(arena, settings.sandbox, say)
        # If there are games already, skip the round to start the site sooner.
        quarantined = _play_round(arena) if once or not arena.store.activity.totals().games else 0
        if not once:
            serve(settings, arena, say)
        elif quarantined:
            fail(f"{quarantined} matches were quarantined because of arena faults: see above", WRONG)


def _play_round(arena: "Arena") -> int:
    """Play a round, print the leaderboard, and return how many matches were quarantined."""
    from arena.app.playing import RoundBar, playing

    arena.ladder.ensure_round()
    with RoundBar(arena.ladder.waiting(), say) as bar, playing(arena, bar.hear) as coordinator:
        coordinator.run(lambda: False)
    if coordinator.stopped or coordinator.draining:
        raise KeyboardInterrupt
    print_board(board_of(arena.store).rows, "Leaderboard")
    return bar.quarantined


def scheduler(
    listen: Annotated[
        str, typer.Argument(metavar="HOST:PORT", help="Address to listen on; 0.0.0.0 for all.")
    ] = "127.0.0.1:8786",
) -> None:
    """Connect a cluster's coordinators and workers, until SIGTERM or Ctrl-C."""
    from arena.app.cluster import schedule
    from arena.platform.settings import Address

    try:
        address = Address.parse(listen)
    except ValueError as error:
        fail(f"{listen}: {error}")
    if address is None:
        fail("name an address, such as 127.0.0.1:8786")
    with explained():
        settings = settings_of_arena()
        schedule(settings, address, lambda where: say(f"scheduler listening at {where}"))
    say("stopped")


def worker(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port for the scheduler's connections; 0 for any free one.")
    ] = 0,
) -> None:
    """Play matches on this host for the cluster of ARENA_EXECUTOR.

    On SIGTERM the worker finishes its matches and accepts no more; a second SIGTERM abandons them.
    """
    from arena.app.worker import work

    with explained():
        settings = settings_of_arena()
        warn_of_processes(settings)
        work(settings, port, say)
    say("stopped; nothing is left running")


def cluster_keys(
    folder: Annotated[Path, typer.Argument(help="Folder for the keys. Keep its ca.key secret.")],
    names: Annotated[
        list[str] | None, typer.Argument(help="Names of members. Default: scheduler, coordinator, worker.")
    ] = None,
) -> None:
    """Create a folder of keys for each cluster member, and the cluster's certificate authority if needed."""
    from arena.app.cluster import make_cluster_keys
    from arena.app.folders import CannotStart, utc_now

    try:
        made = make_cluster_keys(folder, names or ["scheduler", "coordinator", "worker"], utc_now())
    except CannotStart as error:
        fail(str(error))
    for member in made:
        typer.echo(member)
    say(
        "copy each folder only to its member, which needs nothing else. "
        f"Keep {folder / 'ca.key'} secret: it can admit other members"
    )


Seen = list[tuple["KnownWorker", list["OpenMatch"]]]


def workers(*, as_json: Json = False) -> None:
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
