"""The leaderboard as a page, as CSV and for programs."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response

from arena.ladder.ranks import SHARE
from arena.protocol.documents import Row
from web.http.api import LISTED, DataRouter, Next
from web.http.caching import unless_unchanged
from web.http.parameters import House, Offset, Players, RowLimit, Search
from web.http.rendering import PageRouter, iso_moment, page
from web.leaderboard.standings import (
    PROVISIONAL_DEVIATION,
    Board,
    BoardOrder,
    Boards,
    Wanted,
    scale_of,
)

COLUMNS: Final = tuple(field.name for field in fields(Row))

_FORMULA: Final = re.compile('(^|[,;|\t"])(?=\\s*[-=+@\t\r\n\uff1d\uff0b\uff0d\uff20])')
"""Characters that begin a formula in spreadsheets; the last four are their full-width forms."""


def as_csv(rows: Sequence[Row]) -> str:
    """Return lines of the leaderboard as CSV with the API's columns and a header."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(COLUMNS)
    writer.writerows([_cell(getattr(row, column)) for column in COLUMNS] for row in rows)
    return out.getvalue()


def _cell(value: object) -> object:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case datetime():
            return iso_moment(value)
        case str():
            return _FORMULA.sub(r"\1'", value)
    return value


A_PAGE: Final = 50
_CSV: Final = "text/csv; charset=utf-8; header=present"

Order = Annotated[BoardOrder, Query(description="The field to sort by, the best or largest first.")]
PageNumber = Annotated[int, Query(alias="page", ge=1, le=2**31)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The query parameters of the leaderboard."""

    players: Players = None
    house: House = "with"
    search: Search = ""
    order: Order = BoardOrder.SCORE

    @property
    def is_narrow(self) -> bool:
        """True if a filter is set."""
        return self.house == "without" or bool(self.search)

    def part(self, offset: int, limit: int) -> Wanted:
        """Return the lines to read for a page."""
        return Wanted(
            players=self.players,
            house=self.house != "without",
            search=self.search,
            order=self.order,
            offset=offset,
            limit=limit,
        )

    def at(self, path: str = "/leaderboard", **other: int | str | None) -> str:
        """Return an address with these parameters changed; defaults are omitted."""
        asked = {
            "players": self.players,
            "house": self.house,
            "search": self.search,
            "order": self.order,
            "page": 1,
        } | other
        said = {name: value for name, value in asked.items() if value not in {None, "", _UNSAID.get(name)}}
        return f"{path}?{urlencode(said)}" if said else path


_UNSAID: Final[dict[str, int | str]] = {"house": "with", "order": BoardOrder.SCORE, "page": 1}


def leaderboard_pages(boards: Boards) -> APIRouter:
    """Return the routes of the leaderboard."""
    router = PageRouter()

    @router.get("/leaderboard")
    def leaderboard(request: Request, asked: Annotated[Asked, Depends()], number: PageNumber = 1) -> Response:
        request.state.lasting = True
        part = asked.part((number - 1) * A_PAGE, A_PAGE)
        return unless_unchanged(
            request,
            (boards.state(asked.players), part),
            lambda: _leaderboard_page(request, boards.board(part), asked, number),
        )

    @router.get("/leaderboard.csv")
    def table(
        request: Request,
        asked: Annotated[Asked, Depends()],
        offset: Offset = 0,
        limit: RowLimit = 500,
    ) -> Response:
        request.state.lasting = True
        part = asked.part(offset, limit)
        return unless_unchanged(
            request, (boards.state(asked.players), part), lambda: _table(boards.board(part), asked)
        )

    return router


def _leaderboard_page(request: Request, board: Board, asked: Asked, number: int) -> Response:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """A page of the leaderboard.

    Attributes:
        players: The list: 2 to 5 players, or null for all games.
        rows: In the requested order. Bots with equal scores share a rank; the ranks after them are skipped.
        next: The address of the next page, or null.
    """

    players: int | None
    rows: tuple[Row, ...]
    next: str | None


def public_api(boards: Boards) -> APIRouter:
    """Return the route of the leaderboard API."""
    router = DataRouter("arena")

    @router.get("/leaderboard", responses=LISTED)
    def leaderboard(
        next_page: Next,
        asked: Annotated[Asked, Depends()],
        offset: Offset = 0,
        limit: RowLimit = 100,
    ) -> Leaderboard:
        """Rank the bots by all games, or by those with a given number of players.

        Each bot appears once, with its current version. Ranks are by score in the whole list, whatever the
        filter and the order.
        """
        board = boards.board(asked.part(offset, limit))
        end = offset + limit
        return Leaderboard(
            players=asked.players,
            rows=board.rows,
            next=next_page(offset=end) if end < board.found else None,
        )

    return router
