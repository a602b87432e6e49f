"""The front page: an introduction, a game to watch, the leaders and the puzzle of the day."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from arena.db.activity import Activity, RemarkableGame
from arena.db.analyses import KnownPuzzle
from arena.db.live_games import LiveGames
from arena.db.store import Store
from arena.ladder.highlights import HighlightKind
from arena.ladder.standings import Wanted
from web.http.caching import unless_unchanged
from web.http.rendering import PageRouter, page
from web.leaderboard.standings import Boards, scale_of
from web.live import watchable
from web.play.puzzle import laid_out_puzzle, newest_puzzle
from web.viewer.words import card_name

_TOP: Final = Wanted(limit=10)
_TABLES: Final = 8
"""Maximum number of matches shown. The page shows how many more there are."""
_REMARKABLE: Final = 3
"""Number of games of each kind."""


def front_pages(store: Store, boards: Boards, now: Callable[[], datetime]) -> APIRouter:
    """Return the route of the front page."""
    router = PageRouter()

    @router.get("/")
    def front(request: Request) -> Response:
        if "players" in request.query_params:  # the leaderboard's former address
            return RedirectResponse(f"/leaderboard?{request.url.query}", 308)
        activity = store.activity.current(now())
        puzzle = newest_puzzle(store.puzzles, now().date())
        return unless_unchanged(
            request,
            (activity, boards.state(), puzzle and puzzle.day),
            lambda: _front_page(request, activity, boards, puzzle, store.live),
        )

    return router


def _front_page(
    request: Request, activity: Activity, boards: Boards, puzzle: KnownPuzzle | None, live: LiveGames
) -> Response:
    board = boards.board(_TOP)
    rows = [row for row in board.rows if row.games]
    shown = activity.running[:_TABLES]
    featured = _featured(activity)
    watch_address = f"/games/{featured.game.game}/1/1" if featured else None
    if (first := next(watchable(live, shown), None)) is not None:
        watch_address = f"/live/{first[0]}"
    return page(
        request,
        "front.html",
        activity=activity,
        watch_address=watch_address,
        featured=featured,
        running=shown,
        more=activity.matches_running - len(shown),
        upsets=_of(activity, HighlightKind.UPSET),
        most_points=_of(activity, HighlightKind.POINTS),
        bots=board.bots,
        rows=rows,
        scale=scale_of(rows),
        puzzle=None if puzzle is None else laid_out_puzzle(puzzle),
        card_name=card_name,
    )


def _of(activity: Activity, kind: HighlightKind) -> list[RemarkableGame]:
    return [each for each in activity.remarkable if each.kind is kind][:_REMARKABLE]


def _featured(activity: Activity) -> RemarkableGame | None:
    """Return the game that the front page plays: an upset if there is one."""
    return min(activity.remarkable, key=lambda each: each.kind is not HighlightKind.UPSET, default=None)
