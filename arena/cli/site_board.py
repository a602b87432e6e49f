"""The leaderboard of a site, as the arena's own."""

from arena.client.documents import Row
from arena.client.site import Site
from arena.store import Standing

_PAGE = 500


def read_board(site: Site, players: int) -> list[Standing]:
    """Return the standings of a site, best first.

    Args:
        site: Which.
        players: Only games of so many; 0 for all.
    """
    query = {"players": players} if players else {}
    rows = site.pages("/leaderboard", "rows", limit=_PAGE, **query)
    return [_standing(site.read(row, Row)) for row in rows]


def _standing(row: Row) -> Standing:
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
