"""The replay viewer: a page for every frame of a game, and all frames as data."""

from collections.abc import Callable
from typing import Annotated, Final

import msgspec
from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse

from arena.store import Reads
from web.api.routes import DataRoute
from web.caller import Callers
from web.gamelogs import read_private_log
from web.pages.account import logged_in
from web.pages.frames import WORDS, Asked, View, asked_screen, origin, seated
from web.privacy import viewer_of
from web.reading import GameId
from web.rendering import page
from web.viewer.address import Eyes
from web.viewer.film import film
from web.viewer.frames import frames
from web.viewer.screen import Shown, embed_code

_METHODS: Final = ["GET", "HEAD"]

Find = Callable[..., Shown]
"""Finds the game of an address; a dependency, which takes of the request what it needs.

It raises 404 where there is none, or none that this viewer may see.
"""


def viewer_routes(
    find: Find, reads: Reads, callers: Callers, *, base: str, private: bool = False
) -> APIRouter:
    """Return the routes of a viewer.

    Args:
        find: Where its games come from.
        reads: Where what bots noted comes from.
        callers: Know who asks.
        base: What the addresses of its games begin with, without a slash at the end.
        private: Whether its pages take a session.
    """
    router = APIRouter(default_response_class=HTMLResponse)
    known = [Depends(callers.note)]
    Found = Annotated[Shown, Depends(find)]  # noqa: N806 - a type

    @router.api_route(
        f"{base}/{{game}}/{{round}}/{{turn}}",
        methods=_METHODS,
        dependencies=[*known, Depends(logged_in)] if private else known,
    )
    def one_frame(request: Request, game: GameId, shown: Found, asked: Asked) -> Response:
        made = asked_screen(shown, asked, shown.base)
        return page(
            request,
            "viewer.html",
            screen=made,
            words=WORDS,
            embed_code=embed_code(made, origin(request)),
            origin=origin(request),
            log=read_private_log(reads, game, viewer_of(request)),
        )

    def all_frames(shown: Found, view: View = "all") -> Response:
        played = film(shown.replay)
        made = frames(played, seated(played, Eyes.read(view)))
        return Response(msgspec.json.encode(made), media_type="application/json")

    router.add_api_route(
        f"{base}/{{game}}/frames.json",
        all_frames,
        methods=_METHODS,
        route_class_override=DataRoute,
        dependencies=known,
    )
    return router
