"""The replay viewer: a page for every frame of a game, all frames as data, pages for other sites to frame."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Final

import msgspec
from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from fastapi.responses import HTMLResponse

from arena.store import Reads
from web.api.routes import DataRoute
from web.caller import Callers
from web.reading import GameId, read_game
from web.rendering import page
from web.viewer.address import EYES_PATTERN, Eyes, Frame, Stage
from web.viewer.film import Film, film
from web.viewer.frames import frames
from web.viewer.picture import picture
from web.viewer.screen import BACK, FORWARD, Screen, Shown, embed_code, screen
from web.viewer.words import STAGES, card_name, where

_METHODS: Final = ["GET", "HEAD"]
_A_DAY: Final = "public, max-age=86400"
"""For pictures of games that are everybody's: a game does not change, and other sites ask again and again."""

Round = Annotated[str, Path(pattern=r"^[1-3]$")]
Turn = Annotated[str, Path(pattern=r"^([1-9]|10)$")]
Step = Annotated[Stage, Query()]
View = Annotated[str, Query(pattern=EYES_PATTERN)]

Find = Callable[[str], Shown]
"""Finds a game by its id, or raises 404."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What of a game is asked for."""

    game: str
    frame: Frame
    eyes: Eyes


def _asked(game: GameId, round: Round, turn: Turn, step: Step = Stage.PICK, view: View = "all") -> _Asked:  # noqa: A002 - as in the address
    return _Asked(game, Frame(int(round), int(turn), step), Eyes.read(view))


Asked = Annotated[_Asked, Depends(_asked)]


def viewer_pages(reads: Reads, callers: Callers) -> APIRouter:
    """Return the routes by which everybody watches rated games."""

    def find(game: str) -> Shown:
        found = read_game(reads, game)
        home = f"/games/{found.game}"
        return Shown(
            title=f"Game {found.number}",
            replay=found.replay,
            home=home,
            base=home,
            embed=f"/embed/{found.game}",
        )

    return viewer_routes(find, callers, base="/games", embed="/embed")


def viewer_routes(find: Find, callers: Callers, *, base: str, embed: str | None) -> APIRouter:
    """Return the routes of a viewer.

    Args:
        find: Where its games come from.
        callers: Know who asks.
        base: What the addresses of its games begin with, without a slash at the end.
        embed: The same for pages that other sites may frame, or None.
    """
    viewer = _Viewer(find)
    router = APIRouter(default_response_class=HTMLResponse)
    known = [Depends(callers.note)]
    frame = f"{base}/{{game}}/{{round}}/{{turn}}"
    router.add_api_route(frame, viewer.frame, methods=_METHODS, dependencies=known)
    router.add_api_route(
        f"{base}/{{game}}/frames.json",
        viewer.frames,
        methods=_METHODS,
        route_class_override=DataRoute,
        dependencies=known,
    )
    router.add_api_route(f"{base}/{{game}}/og.png", viewer.picture, methods=_METHODS, dependencies=known)
    if embed:
        router.add_api_route(f"{embed}/{{game}}/{{round}}/{{turn}}", viewer.embedded, methods=_METHODS)
    return router


class _Viewer:
    """Answers the requests."""

    def __init__(self, find: Find) -> None:
        self._find = find

    def frame(self, request: Request, asked: Asked) -> Response:
        shown = self._find(asked.game)
        made = _screen(shown, asked, shown.base)
        code = embed_code(made, _origin(request))
        return page(
            request, "viewer.html", screen=made, words=_WORDS, embed_code=code, origin=_origin(request)
        )

    def embedded(self, request: Request, asked: Asked) -> Response:
        shown = self._find(asked.game)
        if shown.embed is None:
            raise HTTPException(404)
        made = _screen(shown, asked, shown.embed)
        request.state.framable = True
        return page(request, "viewer_embed.html", screen=made, words=_WORDS)

    def frames(self, game: GameId, view: View = "all") -> Response:
        played = film(self._find(game).replay)
        eyes = _seated(played, Eyes.read(view))
        return Response(msgspec.json.encode(frames(played, eyes)), media_type="application/json")

    def picture(self, game: GameId) -> Response:
        shown = self._find(game)
        made = picture(film(shown.replay), shown.title)
        kept = {"Cache-Control": _A_DAY} if shown.embed else {}
        return Response(made, media_type="image/png", headers=kept)


_WORDS: Final = {"BACK": BACK, "FORWARD": FORWARD, "STAGES": STAGES, "card_name": card_name, "where": where}


def _origin(request: Request) -> str:
    """Return what absolute addresses of this site begin with, as the visitor wrote it."""
    return str(request.base_url).rstrip("/")


def _screen(shown: Shown, asked: _Asked, base: str) -> Screen:
    played = film(shown.replay)
    if asked.frame not in played.frames:
        raise HTTPException(404, "This game has no such turn, or that step is not shown of it.")
    return screen(shown, played, asked.frame, _seated(played, asked.eyes), base)


def _seated(played: Film, eyes: Eyes) -> Eyes:
    """Return these eyes.

    Raises:
        HTTPException: Nobody sits there.
    """
    if eyes.seat is not None and eyes.seat >= played.rules.players:
        raise HTTPException(404, f"This game has no seat {eyes.seat}.")
    return eyes
