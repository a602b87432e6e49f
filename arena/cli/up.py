"""Commands that run an arena's processes or manage its cluster."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.console import EXIT_FAILURE, Json, at_version, fail, print_json, print_table, say
from arena.cli.leaderboard import board_of, print_board
from arena.cli.operating import exit_on_arena_error, open_arena_store, settings_of_arena, warn_of_processes
from arena.protocol.match import RuntimeName

if TYPE_CHECKING:
    from arena.app.arena import Arena
    from arena.protocol.status import RefusedWorker, Worker


def up() -> None:
    """Run a whole arena on this machine: rated games, submissions and the site.

    On SIGTERM the arena finishes its running matches and exits. A second SIGTERM, or Ctrl-C, abandons them;
    the next run plays them again.
    """
    from arena.app.arena import open_arena
    from arena.app.playing import check_port, prepare, serve

    with exit_on_arena_error():
        settings = settings_of_arena()
        warn_of_processes(settings)
        check_port(settings)
        with open_arena(settings) as arena:
            prepare(arena, say)
            serve(settings, arena, say)


def coordinator() -> None:
    """Run an arena, without its site, until SIGTERM or Ctrl-C. To serve the site, run `python -m web`."""
    from arena.app.arena import open_arena
    from arena.app.playing import playing, prepare, refill

    with exit_on_arena_error():
        settings = settings_of_arena()
        warn_of_processes(settings)
        with open_arena(settings) as arena:
            prepare(arena, say)
            with playing(arena) as player:
                say("playing rated games; press Ctrl-C or send SIGTERM to stop")
                player.run(lambda: refill(arena))
        say("stopped; nothing is left running")


def demo(
    *,
    once: Annotated[bool, typer.Option("--once", help="Stop after printing the leaderboard.")] = False,
    sandbox: Annotated[
        RuntimeName | None, typer.Option(help="How to isolate bots; process provides no isolation.")
    ] = None,
) -> None:
    """Play rated games between the sample bots, print the leaderboard, serve the site and keep playing."""
    from arena.app.arena import open_arena
    from arena.app.playing import check_port, prepare, serve

    with exit_on_arena_error():
        settings = settings_of_arena(terse=True)
        if sandbox is not None:
            settings = settings.model_copy(update={"sandbox": sandbox})
        warn_of_processes(settings)
        if not once:
            check_port(settings)
        with open_arena(settings) as arena:
            prepare(arena, say)
            # If there are games already, skip the round to start the site sooner.
            quarantined = _play_round(arena) if once or not arena.store.activity.totals().games else 0
            if not once:
                serve(settings, arena, say)
            elif quarantined:
                fail(f"matches quarantined because of arena faults: {quarantined}; see above", EXIT_FAILURE)


def _play_round(arena: "Arena") -> int:
    """Play a round, print the leaderboard, and return how many matches were quarantined."""
    from arena.app.playing import RoundBar, playing

    arena.ladder.ensure_round()
    with RoundBar(arena.ladder.waiting(), say) as bar, playing(arena, bar.update) as coordinator:
        coordinator.run(lambda: False)
    if coordinator.stopped or coordinator.draining:
        raise KeyboardInterrupt
    print_board(board_of(arena.store).rows, "Leaderboard")
    return bar.quarantined


def scheduler(
    listen: Annotated[
        str, typer.Argument(metavar="HOST:PORT", help="Address to listen on; 0.0.0.0 for all interfaces.")
    ] = "127.0.0.1:8786",
) -> None:
    """Run a cluster's scheduler until SIGTERM or Ctrl-C. It connects the coordinator and the workers."""
    from arena.app.cluster import schedule
    from arena.platform.settings import Address

    try:
        address = Address.parse(listen)
    except ValueError as error:
        fail(f"{listen}: {error}")
    if address is None:
        fail("specify an address, such as 127.0.0.1:8786")
    with exit_on_arena_error():
        settings = settings_of_arena()
        schedule(settings, address, lambda where: say(f"scheduler listening at {where}"))
    say("stopped")


def worker(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port for the scheduler's connections; 0 for any free port.")
    ] = 0,
) -> None:
    """Play matches on this host for the cluster whose scheduler ARENA_EXECUTOR specifies.

    On SIGTERM the worker finishes its matches and exits. A second SIGTERM abandons them.
    """
    from arena.app.worker import work

    with exit_on_arena_error():
        settings = settings_of_arena()
        warn_of_processes(settings)
        work(settings, port, say)
    say("stopped; nothing is left running")


def cluster_keys(
    folder: Annotated[Path, typer.Argument(help="Folder for the keys. Keep its ca.key secret.")],
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Names of the members. Default: scheduler, coordinator, worker."),
    ] = None,
) -> None:
    """Create a folder of keys for each cluster member, and the cluster's certificate authority if needed."""
    from arena.app.cluster import make_cluster_keys
    from arena.app.folders import CannotStart, utc_now

    try:
        created = make_cluster_keys(folder, names or ["scheduler", "coordinator", "worker"], utc_now())
    except CannotStart as error:
        fail(str(error))
    for member in created:
        typer.echo(member)
    say(
        "copy each folder to its member and nowhere else; a member needs no other files. "
        f"Keep {folder / 'ca.key'} secret: anyone who has it can add members"
    )


def workers(*, as_json: Json = False) -> None:
    """Show the workers with their slots and matches, and why any of them get no matches."""
    from arena.app.folders import utc_now
    from arena.services.documents import read_refused, read_workers

    with open_arena_store() as (_, store):
        seen = read_workers(store, utc_now())
        refused = read_refused(store)
    if as_json:
        print_json({"workers": seen, "refused": refused})
        return
    if not seen:
        say("no workers: no coordinator with workers has reported in the last 30 seconds")
    rows = [*_rows(seen), *map(_refused_row, refused)]
    if rows:
        columns = ("worker", "host", "slots", "in use", "match", "since", "note")
        print_table(columns, rows, numbers=("slots", "in use"))


def _rows(workers: Iterable["Worker"]) -> list[tuple[str, ...]]:
    """Return one row per match, naming each worker once, and one row per idle worker."""
    rows: list[tuple[str, ...]] = []
    for worker in workers:
        first = (worker.name, worker.host, str(worker.seats), str(worker.busy))
        note = "on probation" if worker.doubted else ""
        if worker.usable is not None:
            note = f"{note}, busy host: slots limited to {worker.usable}".removeprefix(", ")
        for match in worker.plays:
            since = f"{match.started.astimezone():%H:%M:%S}"
            seats = " ".join(at_version(seat.bot, seat.version) for seat in match.seats)
            rows.append((*first, f"{match.match}: {seats}", since, note))
            first, note = ("", "", "", ""), ""
        if not worker.plays:
            rows.append((*first, "", "", note))
    return rows


def _refused_row(worker: "RefusedWorker") -> tuple[str, ...]:
    since = f"{worker.since.astimezone():%Y-%m-%d %H:%M:%S}"
    return (worker.name, worker.host, "", "", "", since, f"rejected: {worker.reason}")
