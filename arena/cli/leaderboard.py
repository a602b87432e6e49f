"""``arena leaderboard``: the ratings of the arena on this machine, or of a site."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from arena.cli.admin import opened_arena
from arena.cli.console import Json, fail, print_json
from arena.cli.login import visiting
from arena.protocol.documents import Row

if TYPE_CHECKING:
    from arena.client.site import SiteClient
    from arena.ladder.leaderboard import Standing


def print_board(standings: Sequence["Standing"], title: str) -> None:
    """Print a leaderboard on stdout."""
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
    for heading in ("#", "bot", "author"):
        table.add_column(heading, justify="right" if heading == "#" else "left", no_wrap=True)
    for heading in ("score", "mean ± 2σ", "games", "win %", "place", "fault %"):
        table.add_column(heading, justify="right", no_wrap=True)
    for standing in standings:
        table.add_row(*_cells(standing))
    # If stdout is a file, this fits every column.
    console = Console()
    console.width = max(console.width, 100)
    console.print(table)


def as_data(standings: Sequence["Standing"]) -> list[dict[str, object]]:
    """Return a leaderboard as JSON data, with the same numbers as the site's API."""
    return [
        asdict(standing) | {"last_played": standing.last_played.isoformat() if standing.last_played else None}
        for standing in standings
    ]


def _cells(standing: "Standing") -> tuple[str, ...]:
    return (
        str(standing.rank),
        f"{standing.bot}@{standing.version}",
        standing.author,
        f"{standing.score:.2f}",
        f"{standing.mean:.2f} ± {2 * standing.deviation:.2f}",
        str(standing.games),
        _percent(standing.wins, standing.games),
        "-" if standing.mean_place is None else f"{standing.mean_place:.2f}",
        _percent(standing.faulty, standing.games),
    )


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}" if whole else "-"


_PAGE = 500


def read_board(site: "SiteClient", players: int) -> tuple["Standing", ...]:
    """Return a site's standings, best first, for games with this many players (0 for all)."""
    query = {"players": players} if players else {}
    rows = site.pages("/leaderboard", "rows", limit=_PAGE, **query)
    return tuple([_standing(site.read(row, Row)) for row in rows])


def _standing(row: Row) -> "Standing":
    from arena.ladder.leaderboard import Standing

    return Standing(
        rank=row.rank,
        bot=row.bot,
        version=row.version,
        author=row.author,
        mean=row.mean,
        deviation=row.deviation,
        score=row.score,
        games=row.games,
        wins=round((row.win_share or 0) * row.games),
        mean_place=row.mean_place,
        faulty=round((row.fault_share or 0) * row.games),
        last_played=row.last_played,
        benched=row.benched,
    )


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
    """Print the leaderboard, with the same numbers as on the site. Reads the arena in ARENA_DATA_DIR."""
    if players == 1:
        fail("--players must be 2, 3, 4 or 5, or 0 for all")
    if site:
        with visiting() as visited:
            standings = read_board(visited, players)
    else:
        with opened_arena() as (_, store):
            standings = store.ratings.standings(players)
    if as_json:
        print_json(as_data(standings))
    else:
        print_board(standings, f"Leaderboard, {players} players" if players else "Leaderboard")
