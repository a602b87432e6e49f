"""Cluster commands: ``arena scheduler``, ``arena worker``, ``arena admin cluster-keys``."""

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.console import fail, say
from arena.cli.playing import explained, settings_of_arena, warn_of_processes


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
