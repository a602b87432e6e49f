"""How the bots stand, for everybody."""

from dataclasses import dataclass

from fastapi import APIRouter

from web.api.paging import LISTED, Next
from web.api.routes import DataRouter
from web.board import Row, Wanted
from web.boards import Boards
from web.reading import House, Offset, Players, RowLimit, Search


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """A page of the leaderboard.

    Attributes:
        players: Which list: 2 to 5 players, or null for all games.
        rows: Best first. Bots with equal scores share a rank, and the next one's is as if they did not.
        next: The address of the next page, or null.
    """

    players: int | None
    rows: tuple[Row, ...]
    next: str | None


def public_api(boards: Boards) -> APIRouter:
    """Return the routes by which everybody sees how the bots stand."""
    router = DataRouter("arena")

    @router.get("/leaderboard", responses=LISTED)
    def leaderboard(  # noqa: PLR0913, PLR0917 - what is asked for
        next_page: Next,
        players: Players = None,
        house: House = "with",
        search: Search = "",
        offset: Offset = 0,
        limit: RowLimit = 100,
    ) -> Leaderboard:
        """Rank the bots, by the games of so many players or by all.

        Each bot is there once, with the version that plays. Ranks are those of the whole list, also where
        some bots are left out.
        """
        part = Wanted(players=players, house=house == "with", search=search, offset=offset, limit=limit)
        board = boards.board(part)
        end = offset + limit
        return Leaderboard(
            players=players,
            rows=board.rows,
            next=next_page(offset=end) if end < board.found else None,
        )

    return router
