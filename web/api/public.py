"""How the bots stand, for everybody, and whether the site works."""

from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter, Query
from fastapi.responses import PlainTextResponse

from arena.store import Reads
from web.api.paging import LISTED, Next
from web.api.routes import DataRouter
from web.board import Row
from web.reading import Players, read_board

_LARGEST: Final = 2**63 - 1


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


def public_api(reads: Reads) -> APIRouter:
    """Return the routes by which everybody sees how the bots stand."""
    router = DataRouter("arena")

    @router.get("/leaderboard", responses=LISTED)
    def leaderboard(
        next_page: Next,
        players: Players = None,
        offset: Annotated[int, Query(ge=0, le=_LARGEST, description="How many to leave out.")] = 0,
        limit: Annotated[int, Query(ge=1, le=500, description="How many at most.")] = 100,
    ) -> Leaderboard:
        """Rank the bots, by the games of so many players or by all.

        Each bot is there once, with the version that plays.
        """
        board = read_board(reads, players)
        end = offset + limit
        return Leaderboard(
            players=players,
            rows=board.rows[offset:end],
            next=next_page(offset=end) if end < len(board.rows) else None,
        )

    return router


def health_api(reads: Reads) -> APIRouter:
    """Return the route by which a supervisor sees whether the site can answer; no part of the API."""
    router = APIRouter()

    @router.api_route("/healthz", methods=["GET", "HEAD"])
    def health() -> PlainTextResponse:
        reads.totals()
        return PlainTextResponse("ok\n")

    return router
