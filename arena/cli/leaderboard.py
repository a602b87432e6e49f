"""``arena leaderboard``: the ratings of the arena on this machine, or of a site."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.cli.console import Json, fail, print_json
from arena.cli.login import logged_in_site
from arena.cli.operating import open_arena_store
from arena.platform.text import visible, whole_percent
from arena.protocol.leaderboard import Leaderboard, Row

if TYPE_CHECKING:
    from arena.client.site import SiteClient
    from arena.db.store import Store


FIGURES: Final = ("score", "mean ± 2σ", "games", "win %", "place", "fault %")
"""Headings of the cells that :func:`figures` returns."""


def print_board(rows: Sequence[Row], title: str) -> None:
    """Print a leaderboard on stdout."""
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
    for heading in ("#", "bot", "author"):
        table.add_column(heading, justify="right" if heading == "#" else "left", no_wrap=True)
    for heading in FIGURES:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        cells = (str(row.rank), f"{row.bot}@{row.version}", row.author, *figures(row))
        table.add_row(*(Text(visible(cell)) for cell in cells))  # names may look like markup
    # Make every column fit, even with the longest names, whatever the width of the terminal.
    console = Console()
    console.width = max(console.width, 200)
    console.print(table)


def figures(row: Row) -> tuple[str, ...]:
    """Return a row's cells below :data:`FIGURES`."""
    return (
        f"{row.score:.2f}",
        f"{row.mean:.2f} ± {row.spread:.2f}",
        str(row.games),
        percent(row.win_share),
        "-" if row.mean_place is None else f"{row.mean_place:.2f}",
        percent(row.fault_share),
    )


def percent(share: float | None) -> str:
    """Return a share as a percentage, or a hyphen for None."""
    return "-" if share is None else whole_percent(share)


def board_of(store: "Store", players: int = 0) -> Leaderboard:
    """Return this machine's leaderboard for games with this many players (0 for all)."""
    from arena.app.folders import utc_now
    from arena.ladder.standings import BoardQuery, Standings

    standings = Standings()
    standings.update(store.ratings.changes(players, 0).lines)
    _, rows = standings.rows(BoardQuery(limit=len(standings)), utc_now().toordinal())
    return Leaderboard(players=players or None, rows=tuple(rows), next=None)


_PAGE = 500


def read_board(site: "SiteClient", players: int) -> Leaderboard:
    """Return a site's leaderboard for games with this many players (0 for all)."""
    query = {"players": players} if players else {}
    rows = site.pages("/leaderboard", "rows", limit=_PAGE, **query)
    return Leaderboard(players=players or None, rows=tuple([site.read(row, Row) for row in rows]), next=None)


def leaderboard(
    *,
    players: Annotated[
        int, typer.Option(min=0, max=5, help="Only games with this many players, 2 to 5; 0 for all.")
    ] = 0,
    site: Annotated[
        bool, typer.Option("--site", help="Show the leaderboard of the site you are logged in to.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print the leaderboard of the arena in ARENA_DATA_DIR or, with --site, of the site you are logged in to.

    The numbers are the same as on the arena's site.
    """
    if players == 1:
        fail("--players must be 2, 3, 4 or 5, or 0 for all")
    if site:
        with logged_in_site() as visited:
            board = read_board(visited, players)
    else:
        with open_arena_store() as (_, store):
            board = board_of(store, players)
    if as_json:
        print_json(board)
    else:
        print_board(board.rows, f"Leaderboard, {players} players" if players else "Leaderboard")
