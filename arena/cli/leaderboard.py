"""``arena leaderboard``."""

import json
from collections.abc import Sequence
from contextlib import closing
from typing import Annotated

import typer

from arena.bootstrap import CannotStart, open_results
from arena.cli.board import as_data, print_board
from arena.cli.console import fail
from arena.cli.online import visiting
from arena.cli.site_board import read_board
from arena.settings import WrongSettings, read_settings
from arena.store import Standing, StoreError


def leaderboard(
    *,
    players: Annotated[
        int, typer.Option(min=0, max=5, help="Only games of this many players, 2 to 5; 0 for all.")
    ] = 0,
    site: Annotated[bool, typer.Option("--site", help="That of the site you are logged in to.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the ratings: the same numbers as on the site. The arena's folder is named by ARENA_DATA_DIR."""
    if players == 1:
        fail("--players is 2, 3, 4 or 5, or 0 for all")
    standings = _of_site(players) if site else _of_this_machine(players)
    if as_json:
        typer.echo(json.dumps(as_data(standings), indent=2))
    else:
        print_board(standings, f"Leaderboard, {players} players" if players else "Leaderboard")


def _of_site(players: int) -> Sequence[Standing]:
    with visiting() as site:
        return read_board(site, players)


def _of_this_machine(players: int) -> Sequence[Standing]:
    try:
        with closing(open_results(read_settings())) as store:
            return store.reads.leaderboard(players)
    except (CannotStart, StoreError, WrongSettings) as error:
        fail(str(error))
