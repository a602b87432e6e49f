"""The leaderboard as a page, as CSV and as JSON, with the head-to-head table and bots' badges."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Depends, Query, Request, Response

from arena.db.bots import Bots
from arena.db.histories import Histories, Meeting
from arena.ladder.rank_intervals import SHARE
from arena.ladder.rating import PROVISIONAL_DEVIATION
from arena.ladder.standings import BoardOrder, BoardQuery
from arena.protocol.leaderboard import Leaderboard, Row
from web.http.api import LISTED, DataRouter, Next
from web.http.caching import conditional_response
from web.http.parameters import BotName, House, Offset, Players, RowLimit, Search, query_string, read_bot
from web.http.rendering import PageRouter, fixed, iso_moment, page, render
from web.leaderboard.cache import Board, Boards, scale_of

COLUMNS: Final = tuple(field.name for field in fields(Row))

_FORMULA: Final = re.compile('(^|[,;|\t"])(?=\\s*[-=+@\t\r\n\uff1d\uff0b\uff0d\uff20])')
"""Characters that begin a formula in spreadsheets; the last four are full-width forms."""


def as_csv(rows: Sequence[Row]) -> str:
    """Return rows of the leaderboard as CSV with the API's columns and a header."""
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


PER_PAGE: Final = 50
_CSV: Final = "text/csv; charset=utf-8; header=present"

Order = Annotated[
    BoardOrder, Query(description="The field to sort by; the best or largest value comes first.")
]
Reverse = Annotated[
    Literal["no", "yes"],
    Query(description="Whether to reverse the order. Bots without a value come last either way."),
]
PageNumber = Annotated[int, Query(alias="page", ge=1, le=2**31)]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardQuery:
    """The query parameters of the leaderboard."""

    players: Players = None
    house: House = "with"
    search: Search = ""
    order: Order = BoardOrder.SCORE
    reverse: Reverse = "no"

    @property
    def ascends(self) -> bool:
        """True if the smallest value comes first."""
        return self.order.ascends != (self.reverse == "yes")

    @property
    def is_narrow(self) -> bool:
        """True if a filter is set."""
        return self.house == "without" or bool(self.search)

    def part(self, offset: int, limit: int) -> BoardQuery:
        """Return the query for at most ``limit`` rows, starting at ``offset``."""
        return BoardQuery(
            players=self.players,
            house=self.house != "without",
            search=self.search,
            order=self.order,
            reverse=self.reverse == "yes",
            offset=offset,
            limit=limit,
        )

    def at(self, path: str = "/leaderboard", **other: int | str | None) -> str:
        """Return an address with these parameters changed; defaults are omitted."""
        return path + query_string(asdict(self) | other, asdict(LeaderboardQuery()) | {"page": 1})


def leaderboard_pages(boards: Boards, histories: Histories) -> APIRouter:
    """Return the routes for the leaderboard."""
    router = PageRouter()

    @router.get("/leaderboard")
    def leaderboard(
        request: Request, query: Annotated[LeaderboardQuery, Depends()], number: PageNumber = 1
    ) -> Response:
        request.state.cacheable = True
        part = query.part((number - 1) * PER_PAGE, PER_PAGE)
        return conditional_response(
            request,
            (boards.state(query.players), part),
            lambda: _leaderboard_page(request, boards.board(part), query, number),
        )

    @router.get("/leaderboard.csv")
    def table(
        request: Request,
        query: Annotated[LeaderboardQuery, Depends()],
        offset: Offset = 0,
        limit: RowLimit = 500,
    ) -> Response:
        request.state.cacheable = True
        part = query.part(offset, limit)
        return conditional_response(
            request, (boards.state(query.players), part), lambda: _table(boards.board(part), query)
        )

    @router.get("/leaderboard/versus")
    def versus(request: Request) -> Response:
        request.state.cacheable = True
        return conditional_response(
            request, (boards.state(), "versus"), lambda: _versus_page(request, histories, boards)
        )

    return router


def _leaderboard_page(request: Request, board: Board, query: LeaderboardQuery, number: int) -> Response:
    return page(
        request,
        "leaderboard.html",
        board=board,
        query=query,
        number=number,
        last=max(1, -(-board.found // PER_PAGE)),
        scale=scale_of(board.rows),
        share=SHARE,
        provisional_deviation=PROVISIONAL_DEVIATION,
    )


def _table(board: Board, query: LeaderboardQuery) -> Response:
    response = Response(as_csv(board.rows), media_type=_CSV)
    response.headers["Content-Disposition"] = 'attachment; filename="leaderboard.csv"'
    end = board.query.offset + board.query.limit
    if end < board.found:
        following = query.at("/leaderboard.csv", offset=end, limit=board.query.limit)
        response.headers["Link"] = f'<{following}>; rel="next"'
    return response


def leaderboard_api(boards: Boards) -> APIRouter:
    """Return the route for the leaderboard API."""
    router = DataRouter("arena")

    @router.get("/leaderboard", responses=LISTED)
    def leaderboard(
        next_page: Next,
        query: Annotated[LeaderboardQuery, Depends()],
        offset: Offset = 0,
        limit: RowLimit = 100,
    ) -> Leaderboard:
        """Rank the bots by all games, or by those with a given number of players.

        Each bot appears once, with its active version. Ranks are by score in the whole list, regardless of
        filters and order.
        """
        board = boards.board(query.part(offset, limit))
        end = offset + limit
        return Leaderboard(
            players=query.players,
            rows=board.rows,
            next=next_page(offset=end) if end < board.found else None,
        )

    return router


_VERSUS_QUERY: Final = BoardQuery(limit=20)
_SHADES: Final = 10
_FEW: Final = 10
"""Cells with fewer games have no shade."""


@dataclass(frozen=True, slots=True)
class Encounter:
    """A cell in the table: a bot's record against another bot."""

    games: int
    share: float  # share of their games in which the bot finished ahead; ties count half
    shade: int  # from 0 (never ahead) to 10 (always ahead)


def encounter(meeting: Meeting) -> Encounter:
    """Return the cell for two bots that have met."""
    share = (meeting.ahead + meeting.tied / 2) / meeting.games
    return Encounter(meeting.games, share, round(share * _SHADES))


def _versus_page(request: Request, histories: Histories, boards: Boards) -> Response:
    rows = [row for row in boards.board(_VERSUS_QUERY).rows if row.games]
    met = histories.meetings([row.bot for row in rows])
    cells = {pair: encounter(meeting) for pair, meeting in met.items() if meeting.games}
    return page(request, "versus.html", rows=rows, cells=cells, few=_FEW)


_NARROW: Final = frozenset("fijlrtI.,:;'|!()[]- ")
_WIDE: Final = frozenset("mwMWOQ@#%\N{PLUS-MINUS SIGN}")
_WIDTHS: Final = (4.2, 7.0, 9.4)
"""Widths of narrow, other and wide letters at 11 px. The badge stretches any font to fit them."""
_PADDING: Final = 7
_MARK: Final = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A badge's texts and sizes in pixels."""

    label: str  # the bot's name
    value: str  # rank and rating
    title: str  # the alternative text
    label_width: int  # width of the left part, including the logo
    value_width: int
    label_length: int  # length of the label's text
    value_length: int


def badge_of(bot: str, row: Row | None, bots: int, state: str) -> Badge:
    """Return a bot's badge.

    ``row`` is None if the bot is not on the leaderboard; in that case, ``state`` replaces the rank.
    """
    if row is None:
        return _badge(bot, state, f"{bot} on Kaiten: {state}")
    if not row.games:
        return _badge(bot, "no games yet", f"{bot} on Kaiten: no rated games yet")
    rating = f"{fixed(row.mean, 1)} \N{PLUS-MINUS SIGN} {fixed(row.spread, 1)}"
    provisional = ", provisional" if row.provisional else ""
    return _badge(
        bot,
        f"#{row.rank} \N{MIDDLE DOT} {rating}{provisional}",
        f"{bot} on Kaiten: rank {row.rank} of {bots}, rating {rating}{provisional}",
    )


def _badge(label: str, value: str, title: str) -> Badge:
    label_length, value_length = _length(label), _length(value)
    return Badge(
        label=label,
        value=value,
        title=title,
        label_width=label_length + _MARK + 2 * _PADDING,
        value_width=value_length + 2 * _PADDING,
        label_length=label_length,
        value_length=value_length,
    )


def _length(text: str) -> int:
    narrow, other, wide = _WIDTHS
    return round(sum(narrow if letter in _NARROW else wide if letter in _WIDE else other for letter in text))


_BADGE_CACHE_CONTROL: Final = "public, max-age=300"
"""Caches may store a badge for five minutes."""


def badge_pages(boards: Boards, bots: Bots) -> APIRouter:
    """Return the routes for badges. They are the same for every visitor, and any site may embed them."""
    router = PageRouter(anonymous=True)

    @router.get("/bots/{bot}/badge.svg")
    def badge(request: Request, bot: BotName) -> Response:
        known = read_bot(bots, bot)
        request.state.framable = True
        row, count = boards.find(bot)
        drawn = badge_of(bot, row, count, known.state.value)
        response = conditional_response(
            request, drawn, lambda: Response(render("badge.svg", badge=drawn), media_type="image/svg+xml")
        )
        response.headers["Cache-Control"] = _BADGE_CACHE_CONTROL
        del response.headers["Vary"]
        return response

    return router
