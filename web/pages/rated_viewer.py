"""Rated games in the viewer, for everybody; pages that other sites may frame, and pictures for sharing."""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse

from arena.store import Reads
from web.caller import Callers
from web.pages.frames import WORDS, Asked, asked_film, asked_screen
from web.pages.viewer import Find, viewer_routes
from web.pictures import Pictures
from web.reading import GameId, read_game, replay_of
from web.rendering import page
from web.viewer.film import Film, film
from web.viewer.picture import picture
from web.viewer.screen import Shown
from web.viewer.turn_picture import turn_picture

_METHODS: Final = ["GET", "HEAD"]


def viewer_pages(reads: Reads, callers: Callers) -> APIRouter:
    """Return the routes by which everybody watches rated games."""

    def find(game: GameId) -> Shown:
        found = read_game(reads, game)
        home = f"/games/{found.game}"
        return Shown(
            title=f"Game {found.number}",
            replay=replay_of(found),
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

    _add_pictures(router, find)
    return router


def _add_pictures(router: APIRouter, find: Find) -> None:
    """Add the routes of what other sites show beside a link. Nobody in particular asks for these."""
    pictures = Pictures()
    Found = Annotated[Shown, Depends(find)]  # noqa: N806 - a type

    @router.api_route("/games/{game}/og.png", methods=_METHODS)
    async def result(request: Request, shown: Found) -> Response:
        of = (shown.title, shown.replay)
        return await pictures.answer(request, of, lambda: picture(film(shown.replay), shown.title))

    def played(shown: Found, asked: Asked) -> Film:
        return asked_film(shown, asked)

    @router.api_route("/games/{game}/{round}/{turn}/og.png", methods=_METHODS)
    async def one_frame(
        request: Request, shown: Found, asked: Asked, played: Annotated[Film, Depends(played)]
    ) -> Response:
        of = (shown.title, shown.replay, asked)
        return await pictures.answer(
            request, of, lambda: turn_picture(played, asked.frame, asked.eyes, shown.title)
        )
