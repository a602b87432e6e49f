"""Rated games in the viewer, for everybody; pages that other sites may frame, and pictures for sharing."""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse

from arena.store import Reads
from web.caller import Callers
from web.pages.frames import WORDS, Asked, asked_screen
from web.pages.viewer import viewer_routes
from web.reading import GameId, read_game
from web.rendering import page
from web.viewer.film import film
from web.viewer.picture import picture
from web.viewer.screen import Shown

_METHODS: Final = ["GET", "HEAD"]
_A_DAY: Final = "public, max-age=86400"
"""For pictures of games that are everybody's: a game does not change, and other sites ask again and again."""


def viewer_pages(reads: Reads, callers: Callers) -> APIRouter:
    """Return the routes by which everybody watches rated games."""

    def find(game: GameId) -> Shown:
        found = read_game(reads, game)
        home = f"/games/{found.game}"
        return Shown(
            title=f"Game {found.number}",
            replay=found.replay,
            home=home,
            base=home,
            download=f"{home}/replay.json",
            embed=f"/embed/{found.game}",
        )

    router = viewer_routes(find, reads, callers, base="/games")
    Found = Annotated[Shown, Depends(find)]  # noqa: N806 - a type

    @router.api_route("/embed/{game}/{round}/{turn}", methods=_METHODS, response_class=HTMLResponse)
    def embedded(request: Request, game: GameId, shown: Found, asked: Asked) -> Response:
        made = asked_screen(shown, asked, f"/embed/{game}")
        request.state.framable = True
        return page(request, "viewer_embed.html", screen=made, words=WORDS)

    @router.api_route("/games/{game}/og.png", methods=_METHODS)
    def result(shown: Found) -> Response:
        made = picture(film(shown.replay), shown.title)
        return Response(made, media_type="image/png", headers={"Cache-Control": _A_DAY})

    return router
