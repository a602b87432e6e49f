"""``arena admin rebuild-statistics``: the statistics of cards, counted anew."""

import typer

from arena.cli.console import WRONG
from arena.cli.operating import opened_arena, write_down
from arena.store import RebuiltCards


def rebuild_statistics() -> None:
    """Count the games' cards anew and put right what differs. Exit code 1 where anything did unexpectedly."""
    with opened_arena() as (_, store):
        rebuilt = store.writes.rebuild_cards()
    told = _told(rebuilt)
    write_down("rebuild-statistics", detail=told)
    typer.echo(told)
    if rebuilt.differing and not rebuilt.missing:
        raise typer.Exit(WRONG)


def _told(rebuilt: RebuiltCards) -> str:
    games = f"{rebuilt.games} games counted"
    if rebuilt.missing:  # so of course the sums differ
        return f"{games}; those before game {rebuilt.missing + 1} had not been"
    return f"{games}, {rebuilt.differing} sums differed"
