"""Badges of bots, for pages elsewhere."""

from typing import Final

from fastapi import APIRouter, HTTPException, Request, Response

from arena.store import Bots
from web.badge import badge_of
from web.boards import Boards
from web.reading import BotName
from web.rendering import render
from web.unchanged import unless_unchanged

_LASTS: Final = "public, max-age=300"
"""Others' caches ask for it once in five minutes."""


def badge_pages(boards: Boards, bots: Bots) -> APIRouter:
    """Return the route of badges. They are the same for everybody, and any site may show them."""
    router = APIRouter()

    @router.api_route("/bots/{bot}/badge.svg", methods=["GET", "HEAD"])
    def badge(request: Request, bot: BotName) -> Response:
        known = bots.find(bot)
        if known is None:
            raise HTTPException(404, "There is no bot of this name.")
        request.state.framable = True
        row, count = boards.find(bot)
        drawn = badge_of(bot, row, count, known.state.value)
        made = unless_unchanged(
            request, drawn, lambda: Response(render("badge.svg", badge=drawn), media_type="image/svg+xml")
        )
        made.headers["Cache-Control"] = _LASTS
        del made.headers["Vary"]
        return made

    return router
