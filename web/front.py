"""The site's root: the front page, and the addresses that search engines and browsers look for."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import escape
from typing import Final
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse

from arena.db.activity import Activity, RemarkableGame
from arena.db.analyses import KnownPuzzle
from arena.db.games import GameRepository, GameSummary
from arena.db.store import Store
from arena.ladder.highlights import HighlightKind
from arena.ladder.standings import BoardQuery
from web.docs.pages import Documentation
from web.http.caching import conditional_response, tagged
from web.http.parameters import has_replay
from web.http.rendering import PageRouter, origin, page
from web.http.static import MOUNT
from web.leaderboard.cache import Boards, scale_of
from web.live import watchable
from web.play.puzzle import lay_out_puzzle, newest_puzzle

_TOP: Final = BoardQuery(limit=10)
_TABLES: Final = 8
"""Maximum number of matches shown. The page shows how many more there are."""
_REMARKABLE: Final = 3
"""Maximum number of games of each kind."""
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Featured:
    """The game that the front page replays; ``highlight`` is None for the closest game of the day."""

    game: GameSummary
    highlight: RemarkableGame | None


def front_pages(store: Store, boards: Boards, now: Callable[[], datetime]) -> APIRouter:
    """Return the route for the front page."""
    router = PageRouter()

    @router.get("/")
    def front(request: Request) -> Response:
        if "players" in request.query_params:  # the leaderboard's former address
            return RedirectResponse(f"/leaderboard?{request.url.query}", 308)
        at = now()
        activity = store.activity.current(at)
        featured = _featured_game(activity, store.games, at - _DAY)
        puzzle = newest_puzzle(store.puzzles, at.date())
        live, _ = next(watchable(store.live, activity.running[:_TABLES]), (None, 0))
        return conditional_response(
            request,
            (activity, featured, boards.state(), puzzle and puzzle.day, live),
            lambda: _front_page(request, activity, featured, boards, puzzle=puzzle, live=live),
        )

    return router


def _front_page(  # noqa: PLR0913 - one argument per part of the page
    request: Request,
    activity: Activity,
    featured: Featured | None,
    boards: Boards,
    *,
    puzzle: KnownPuzzle | None,
    live: str | None,
) -> Response:
    board = boards.board(_TOP)
    rows = [row for row in board.rows if row.games]
    shown = activity.running[:_TABLES]
    watch_address = f"/games/{featured.game.game}/1/1" if featured else None
    if live is not None:
        watch_address = f"/live/{live}"
    return page(
        request,
        "front.html",
        activity=activity,
        watch_address=watch_address,
        featured=featured,
        running=shown,
        more=activity.matches_running - len(shown),
        upsets=_of_kind(activity, HighlightKind.UPSET),
        most_points=_of_kind(activity, HighlightKind.POINTS),
        bots=board.bots,
        rows=rows,
        scale=scale_of(rows),
        puzzle=None if puzzle is None else lay_out_puzzle(puzzle),
    )


def _of_kind(activity: Activity, kind: HighlightKind) -> list[RemarkableGame]:
    return [each for each in activity.remarkable if each.kind is kind][:_REMARKABLE]


def _featured_game(activity: Activity, games: GameRepository, since: datetime) -> Featured | None:
    """Return the most surprising upset since a given time, or the closest game if there is no upset.

    If there have been no games since then, return an older remarkable game whose replay is still stored, or
    None.
    """
    found = activity.upset
    if found is None and (closest := games.closest_since(since)) is not None:
        return Featured(game=closest, highlight=None)
    older = (each for each in activity.remarkable if has_replay(games, each.game.game))
    found = found or next(older, None)
    return None if found is None else Featured(game=found.game, highlight=found)


_PAGES: Final = (
    "/",
    "/leaderboard",
    "/leaderboard/versus",
    "/leaderboard/calibration",
    "/compare",
    "/play",
    "/puzzle",
    "/start",
    "/games",
    "/data",
    "/cards",
    "/docs",
)
_MAX_BOTS: Final = 10_000
"""A sitemap has at most 50,000 addresses (sitemaps.org)."""

_SITEMAP: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"
_ROBOTS: Final = """\
User-agent: *
Disallow: /api/
Disallow: /account
Disallow: /embed/
Disallow: /live/
Disallow: /mine
Disallow: /submissions
Disallow: /tv
Sitemap: {origin}/sitemap.xml
"""


def crawler_pages(boards: Boards, documentation: Documentation) -> APIRouter:
    """Return the routes for search engines."""
    router = PageRouter(anonymous=True)

    @router.get("/robots.txt")
    def robots(request: Request) -> Response:
        return tagged(request, PlainTextResponse(_ROBOTS.format(origin=origin(request))))

    @router.get("/sitemap.xml")
    def sitemap(request: Request) -> Response:
        documents = [page.address for chapter in documentation.chapters for page in chapter.pages]
        bots = [f"/bots/{name}" for name in boards.names()[:_MAX_BOTS]]
        places = "".join(
            f"<url><loc>{escape(origin(request) + quote(address))}</loc></url>\n"
            for address in (*_PAGES, *documents, *bots)
        )
        text = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{_SITEMAP}">\n{places}</urlset>\n'
        return tagged(request, Response(text, media_type="application/xml"))

    @router.get("/favicon.ico")
    def icon() -> Response:
        return RedirectResponse(f"{MOUNT}/mark.svg", 308)

    return router
