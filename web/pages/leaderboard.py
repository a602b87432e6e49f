"""The leaderboard: a page for people, and a table for spreadsheets."""

from dataclasses import dataclass
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse

from arena.rating import SHARE
from web.board import PROVISIONAL_DEVIATION, Board, Wanted, scale_of
from web.boards import Boards
from web.caller import Callers
from web.leaderboard_csv import as_csv
from web.reading import House, Offset, Players, RowLimit, Search
from web.rendering import page
from web.unchanged import unless_unchanged

A_PAGE: Final = 50
_METHODS: Final = ["GET", "HEAD"]
_CSV: Final = "text/csv; charset=utf-8; header=present"

PageNumber = Annotated[int, Query(alias="page", ge=1, le=2**31)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What of the leaderboard is asked for, as its addresses say it.

    Attributes:
        players: Games of so many; None for all.
        house: ``without`` leaves the arena's own bots out.
        search: Part of a bot's or an author's name.
    """

    players: int | None
    house: str
    search: str

    @property
    def is_narrow(self) -> bool:
        """Whether some bots of the list are left out."""
        return self.house == "without" or bool(self.search)

    def part(self, offset: int, limit: int) -> Wanted:
        """Return so many lines of it from there on."""
        return Wanted(
            players=self.players,
            house=self.house != "without",
            search=self.search,
            offset=offset,
            limit=limit,
        )

    def at(self, path: str = "/leaderboard", **other: int | str | None) -> str:
        """Return an address for the same, but for what is named. What goes without saying is not in it."""
        asked = {"players": self.players, "house": self.house, "search": self.search, "page": 1} | other
        said = {name: value for name, value in asked.items() if value not in {None, "", _UNSAID.get(name)}}
        return f"{path}?{urlencode(said)}" if said else path


_UNSAID: Final[dict[str, int | str]] = {"house": "with", "page": 1}


def leaderboard_pages(boards: Boards, callers: Callers) -> APIRouter:
    """Return the routes of the leaderboard."""
    router = APIRouter(default_response_class=HTMLResponse, dependencies=[Depends(callers.note)])

    @router.api_route("/leaderboard", methods=_METHODS)
    def leaderboard(
        request: Request,
        players: Players = None,
        house: House = "with",
        search: Search = "",
        number: PageNumber = 1,
    ) -> Response:
        request.state.lasting = True
        asked = Asked(players=players, house=house, search=search)
        part = asked.part((number - 1) * A_PAGE, A_PAGE)
        return unless_unchanged(
            request,
            (boards.state(players), part),
            lambda: _page(request, boards.board(part), asked, number),
        )

    @router.api_route("/leaderboard.csv", methods=_METHODS)
    def table(  # noqa: PLR0913, PLR0917 - what is asked for
        request: Request,
        players: Players = None,
        house: House = "with",
        search: Search = "",
        offset: Offset = 0,
        limit: RowLimit = 500,
    ) -> Response:
        request.state.lasting = True
        asked = Asked(players=players, house=house, search=search)
        part = asked.part(offset, limit)
        return unless_unchanged(
            request, (boards.state(players), part), lambda: _table(boards.board(part), asked)
        )

    return router


def _page(request: Request, board: Board, asked: Asked, number: int) -> Response:
    return page(
        request,
        "leaderboard.html",
        board=board,
        asked=asked,
        number=number,
        last=max(1, -(-board.found // A_PAGE)),
        scale=scale_of(board.rows),
        share=SHARE,
        provisional_deviation=PROVISIONAL_DEVIATION,
    )


def _table(board: Board, asked: Asked) -> Response:
    made = Response(as_csv(board.rows), media_type=_CSV)
    made.headers["Content-Disposition"] = 'attachment; filename="leaderboard.csv"'
    end = board.wanted.offset + board.wanted.limit
    if end < board.found:
        following = asked.at("/leaderboard.csv", offset=end, limit=board.wanted.limit)
        made.headers["Link"] = f'<{following}>; rel="next"'
    return made
