"""The front page: what is being played, what was worth watching, and who is ahead."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from arena.highlights import HighlightKind
from arena.store import Activity, RemarkableGame, Store
from web.board import Wanted, scale_of
from web.boards import Boards
from web.caller import Callers
from web.rendering import page
from web.unchanged import unless_unchanged

_TOP: Final = Wanted(limit=10)
_TABLES: Final = 8
"""Matches that are shown; of more it says how many."""
_FREE: Final = 4
"""So many tables stand there at least, some of them free, so that nothing moves when a match begins."""
_REMARKABLE: Final = 3
"""Games of each kind."""


def front_pages(store: Store, boards: Boards, callers: Callers, now: Callable[[], datetime]) -> APIRouter:
    """Return the route of the front page."""
    router = APIRouter(default_response_class=HTMLResponse, dependencies=[Depends(callers.note)])

    @router.api_route("/", methods=["GET", "HEAD"])
    def front(request: Request) -> Response:
        if "players" in request.query_params:  # where the leaderboard used to be
            return RedirectResponse(f"/leaderboard?{request.url.query}", 308)
        activity, workers = store.reads.activity(now()), len(store.leases.workers())
        return unless_unchanged(
            request, (activity, workers, boards.state()), lambda: _page(request, activity, workers, boards)
        )

    return router


def _page(request: Request, activity: Activity, workers: int, boards: Boards) -> Response:
    board = boards.board(_TOP)
    shown = activity.running[:_TABLES]
    return page(
        request,
        "front.html",
        activity=activity,
        workers=workers,
        running=shown,
        free=max(0, _FREE - len(shown)),
        more=activity.matches_running - len(shown),
        upsets=_of(activity, HighlightKind.UPSET),
        most_points=_of(activity, HighlightKind.POINTS),
        board=board,
        scale=scale_of(board.rows),
    )


def _of(activity: Activity, kind: HighlightKind) -> list[RemarkableGame]:
    return [each for each in activity.remarkable if each.kind is kind][:_REMARKABLE]
