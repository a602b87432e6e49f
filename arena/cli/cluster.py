"""The commands of a cluster: ``arena scheduler``, ``arena worker``, ``arena admin cluster-keys``."""

from pathlib import Path
from typing import Annotated

import typer

from arena.app.cluster import make_cluster_keys, schedule
from arena.app.folders import CannotStart, utc_now
from arena.app.worker import work
from arena.cli.console import fail, say
from arena.cli.playing import explained, settings_of_arena, warn_of_processes
from arena.platform.settings import Address


def scheduler(
    listen: Annotated[
        str, typer.Argument(metavar="HOST:PORT", help="Where it listens; 0.0.0.0 for all addresses.")
    ] = "127.0.0.1:8786",
) -> None:
    """Bring coordinators and workers of a cluster together, until SIGTERM or Ctrl-C."""
    try:
        address = Address.parse(listen)
    except ValueError as error:
        fail(f"{listen}: {error}")
    if address is None:
        fail("name an address, such as 127.0.0.1:8786")
    with explained():
        settings = settings_of_arena()
        schedule(settings, address, lambda where: say(f"the scheduler listens at {where}"))
    say("stopped")


def worker(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where the scheduler reaches it; 0 for a free one.")
    ] = 0,
) -> None:
    """Play matches on this host for the cluster of ARENA_EXECUTOR.

    SIGTERM lets the matches that run end, and takes no more; a second one throws them away.
    """
    with explained():
        settings = settings_of_arena()
        warn_of_processes(settings)
        work(settings, port, say)
    say("stopped; nothing is left running")


def cluster_keys(
    folder: Annotated[Path, typer.Argument(help="For the keys; its ca.key stays with the operator.")],
    names: Annotated[
        list[str] | None, typer.Argument(help="Of members. Without: scheduler, coordinator, worker.")
    ] = None,
) -> None:
    """Make a cluster's own authority, where there is none, and a folder of keys for each of these members."""
    try:
        made = make_cluster_keys(folder, names or ["scheduler", "coordinator", "worker"], utc_now())
    except CannotStart as error:
        fail(str(error))
    for member in made:
        typer.echo(member)
    say(
        "each of these folders is for its member alone, and all that it needs; "
        f"{folder / 'ca.key'} is for the operator only: it can admit other members"
    )
