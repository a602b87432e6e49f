"""The pages. Each is a plain function: it runs in a thread, where it may wait for the database."""

from typing import Final

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse

from arena.store import Reads
from web.caller import Callers
from web.reading import Before
from web.rendering import page

GAMES_A_PAGE: Final = 50
_METHODS: Final = ["GET", "HEAD"]


def public_pages(reads: Reads, callers: Callers) -> APIRouter:
    """Return the routes of all pages that everybody may see."""
    router = APIRouter(default_response_class=HTMLResponse, dependencies=[Depends(callers.note)])

    @router.api_route("/games", methods=_METHODS)
    def games(request: Request, before: Before = None) -> Response:
        found = reads.games(before, GAMES_A_PAGE + 1)
        shown = found[:GAMES_A_PAGE]
        older = shown[-1].number if len(found) > len(shown) else None
        return page(request, "games.html", games=shown, older=older, before=before)

    return router
