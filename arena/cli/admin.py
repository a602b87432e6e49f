"""``arena admin``: for whoever runs the arena."""

from contextlib import closing

import typer

from arena.bootstrap import CannotStart, open_results
from arena.cli.console import WRONG, fail
from arena.settings import WrongSettings, read_settings
from arena.store import StoreError

app = typer.Typer(help="For whoever runs the arena.", no_args_is_help=True)


@app.callback()
def admin() -> None:
    """For whoever runs the arena."""


@app.command("rebuild-ratings")
def rebuild_ratings() -> None:
    """Fold the log of games anew and put right what differs. Exit code 1 where anything did."""
    try:
        with closing(open_results(read_settings())) as store:
            rebuilt = store.writes.rebuild_ratings()
    except (CannotStart, StoreError, WrongSettings) as error:
        fail(str(error))
    typer.echo(f"{rebuilt.events} events, {rebuilt.differing} ratings differed")
    if rebuilt.differing:
        raise typer.Exit(WRONG)
