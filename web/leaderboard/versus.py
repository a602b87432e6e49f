"""The head-to-head table of the first twenty bots of the leaderboard."""

from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter, Request, Response

from arena.db.histories import Histories, Meeting
from web.http.caching import unless_unchanged
from web.http.rendering import PageRouter, page
from web.leaderboard.standings import Boards, Wanted

_MEETING: Final = Wanted(limit=20)
_SHADES: Final = 10


@dataclass(frozen=True, slots=True)
class Encounter:
    """A cell of the table: a bot's record against another."""

    games: int
    share: float  # share of their games in which the bot finished ahead; ties count half
    shade: int  # 0 for never ahead to 10 for always


def encounter(meeting: Meeting) -> Encounter:
    """Return the cell of two bots that have met."""
    share = (meeting.ahead + meeting.tied / 2) / meeting.games
    return Encounter(meeting.games, share, round(share * _SHADES))


def versus_pages(histories: Histories, boards: Boards) -> APIRouter:
    """Return the route of the table."""
    router = PageRouter()

    @router.get("/leaderboard/versus")
    def versus(request: Request) -> Response:
        request.state.lasting = True
        return unless_unchanged(
            request, (boards.state(), "versus"), lambda: _page(request, histories, boards)
        )

    return router


def _page(request: Request, histories: Histories, boards: Boards) -> Response:
    rows = [row for row in boards.board(_MEETING).rows if row.games]
    met = histories.meetings([row.bot for row in rows])
    cells = {pair: encounter(meeting) for pair, meeting in met.items() if meeting.games}
    return page(request, "versus.html", rows=rows, cells=cells)
