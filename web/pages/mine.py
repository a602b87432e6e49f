"""The page of one's own bots."""

from typing import Final

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from arena.store import Store
from web.boards import Boards
from web.caller import Callers
from web.ownbots import read_own_bots
from web.pages.account import Session
from web.rendering import page

_METHODS: Final = ["GET", "HEAD"]


def own_bots_pages(store: Store, boards: Boards, callers: Callers) -> APIRouter:
    """Return the routes of one's own bots. They take a session; programs have the API."""
    router = APIRouter(default_response_class=HTMLResponse, dependencies=[Depends(callers.note)])

    @router.api_route("/mine", methods=_METHODS)
    def mine(request: Request, session: Session) -> Response:
        return page(request, "mine.html", own=read_own_bots(store, boards, session.account.id))

    @router.api_route("/bots", methods=_METHODS)
    def bots() -> Response:
        # Whoever cuts the name off the address of a bot is most likely its owner.
        return RedirectResponse("/mine", 303)

    return router
