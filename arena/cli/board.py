"""The leaderboard as text and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict

from rich import box
from rich.console import Console
from rich.table import Table

from arena.store import Standing


def print_board(standings: Sequence[Standing], title: str) -> None:
    """Print a leaderboard on stdout."""
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
    for heading in ("#", "bot", "author"):
        table.add_column(heading, justify="right" if heading == "#" else "left", no_wrap=True)
    for heading in ("score", "mean ± 2σ", "games", "win %", "place", "fault %"):
        table.add_column(heading, justify="right", no_wrap=True)
    for standing in standings:
        table.add_row(*_cells(standing))
    # Wide enough for every column where stdout is a file.
    console = Console()
    console.width = max(console.width, 100)
    console.print(table)


def as_data(standings: Sequence[Standing]) -> list[dict[str, object]]:
    """Return a leaderboard as plain data; the numbers are those of the site's API."""
    return [
        asdict(standing) | {"last_played": standing.last_played.isoformat() if standing.last_played else None}
        for standing in standings
    ]


def _cells(standing: Standing) -> tuple[str, ...]:
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
