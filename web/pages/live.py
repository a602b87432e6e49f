"""Games that are watched while they are played: the viewer with the rounds that are over, and no other."""

from collections.abc import Callable
from typing import Annotated, Final

import msgspec
from fastapi import APIRouter, Depends, HTTPException, Path, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from arena.rules import ROUNDS
from arena.store import LiveGames, MatchKind, MatchState, ShownGame, WatchedMatch
from web.api.routes import PREFIX, DataRoute
from web.caller import Callers
from web.live import MatchId, home_of, read_live
from web.pages.frames import WORDS, Asked, AskedFrame, View, origin, seated
from web.privacy import viewer_of
from web.rendering import page
from web.unchanged import unless_unchanged
from web.viewer.address import Eyes, address
from web.viewer.film import Film, film_so_far
from web.viewer.frames import frames
from web.viewer.screen import Screen, Shown, screen

_METHODS: Final = ["GET", "HEAD"]

Number = Annotated[int, Path(ge=1, le=1_000_000)]


def live_pages(live: LiveGames, callers: Callers) -> APIRouter:
    """Return the routes by which matches are watched."""
    router = APIRouter(
        prefix="/live/{match}", default_response_class=HTMLResponse, dependencies=[Depends(callers.note)]
    )
    pages = _Live(live)
    router.add_api_route("", pages.newest, methods=_METHODS)
    router.add_api_route(
        "/{number}/frames.json", pages.frames, methods=_METHODS, route_class_override=DataRoute
    )
    router.add_api_route("/{number}/{round}/{turn}", pages.frame, methods=_METHODS)
    return router


class _Live:
    """Answers the requests."""

    def __init__(self, live: LiveGames) -> None:
        self._live = live

    def newest(self, request: Request, match: MatchId, view: View = "all") -> Response:
        """Lead to the newest frame of a match, or to where its games are kept once it is over."""
        found = self._read(request, match, None)
        if found.game is None:
            return unless_unchanged(request, found, lambda: _without_a_game(request, found))
        newest = film_so_far(found.game.text).frames[-1]
        return RedirectResponse(address(_base(found, found.game), newest, Eyes.read(view)), 303)

    def frame(self, request: Request, match: MatchId, number: Number, asked: Asked) -> Response:
        """Show a frame of a game."""
        found = self._read(request, match, number)
        if found.state is MatchState.DONE:
            return _to_the_replay(found, number, lambda home: address(home, asked.frame, asked.eyes))
        game = found.game
        if game is None:
            raise _not_shown(found)

        def made() -> Response:
            film = film_so_far(game.text)
            if asked.frame not in film.frames:
                raise _not_shown(found)
            return _page(request, found, _screen(found, game, film, asked))

        return unless_unchanged(request, (found, asked), made)

    def frames(self, request: Request, match: MatchId, number: Number, view: View = "all") -> Response:
        """Return all frames of a game so far, as data."""
        found = self._read(request, match, number)
        if found.state is MatchState.DONE:
            return _to_the_replay(found, number, lambda home: f"{home}/frames.json?view={view}")
        if found.game is None:
            raise _not_shown(found)
        film = film_so_far(found.game.text)
        made = frames(film, seated(film, Eyes.read(view)))
        return Response(msgspec.json.encode(made), media_type="application/json")

    def _read(self, request: Request, match: str, number: int | None) -> WatchedMatch:
        return read_live(self._live, match, number, viewer_of(request).may_see)


def _base(match: WatchedMatch, game: ShownGame) -> str:
    return f"/live/{match.match}/{game.game + 1}"


def _screen(match: WatchedMatch, game: ShownGame, film: Film, asked: AskedFrame) -> Screen:
    base = _base(match, game)
    shown = Shown(
        title=f"Live: game {game.game + 1} of {match.games}",
        replay=game.text,
        home=f"/live/{match.match}",
        base=base,
        download=f"{PREFIX}/live/{match.match}?game={game.game + 1}",
        embed=None,
    )
    return screen(shown, film, asked.frame, seated(film, asked.eyes), base)


def _page(request: Request, match: WatchedMatch, made: Screen) -> Response:
    return page(
        request,
        "live.html",
        match=match,
        rated=match.kind is MatchKind.RATED,
        playing=None if match.game is None or match.game.rounds == ROUNDS else match.game.rounds + 1,
        screen=made,
        words=WORDS,
        origin=origin(request),
    )


def _without_a_game(request: Request, match: WatchedMatch) -> Response:
    return page(
        request,
        "live_none.html",
        match=match,
        rated=match.kind is MatchKind.RATED,
        replays=[home_of(match, game) for game in match.played],
    )


def _to_the_replay(match: WatchedMatch, number: int, address_in: Callable[[str], str]) -> Response:
    if number > len(match.played):
        raise HTTPException(404, "This game was not played: a bot was lost in an earlier one of its match.")
    return RedirectResponse(address_in(home_of(match, match.played[number - 1])), 303)


def _not_shown(match: WatchedMatch) -> HTTPException:
    if match.state is MatchState.RUNNING:
        return HTTPException(404, "Nothing is shown of this turn yet, or it is no turn of this game.")
    return HTTPException(404, "This match is not being played just now.")
