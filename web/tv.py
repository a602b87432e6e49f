"""Kaiten TV: shows one game after another, live ones first."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Final

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from arena.db.activity import Activity
from arena.db.store import Store
from arena.protocol.states import MatchState
from arena.rules import ROUNDS
from web.http.parameters import GameId, read_game
from web.http.rendering import PageRouter, page
from web.live import After, GameNumber, MatchId, live_screen, read_live, watchable
from web.viewer.film import EVERYBODY, FilmStage, Frame, film, film_so_far
from web.viewer.pages import WORDS, AskedFrame, shown_game
from web.viewer.screen import screen

_NEWEST: Final = 20
"""Number of games shown in addition to the remarkable ones of the last days."""


def tv_pages(store: Store, now: Callable[[], datetime]) -> APIRouter:
    """Return the routes of Kaiten TV."""
    router = PageRouter(prefix="/tv")

    @router.get("")
    def next_show(request: Request, after: After = None) -> Response:
        """Redirect to the next game, not ``after``. Show a page if there is none."""
        activity = store.activity.current(now())
        for address in (*_live(store, activity, after), *_recorded(store, activity, after)):
            return RedirectResponse(address, 303, headers={"Cache-Control": "no-store"})
        return page(request, "tv_none.html")

    @router.get("/games/{game}")
    def recorded(request: Request, game: GameId) -> Response:
        """Show a recorded game from its first frame."""
        shown = shown_game(read_game(store.games, game))
        made = screen(shown, film(shown.replay), Frame(1, 1, FilmStage.PICK), EVERYBODY, shown.base)
        return page(request, "tv.html", screen=made, words=WORDS, show=game, match=None, playing=None)

    @router.get("/live/{match}/{number}")
    def live(request: Request, match: MatchId, number: GameNumber) -> Response:
        """Show a running game from the round that was disclosed last."""
        found = read_live(store.live, match, number, lambda _: False)
        if found.state is MatchState.DONE:
            return RedirectResponse(f"/tv?after={match}", 303)
        if found.game is None:
            raise HTTPException(404, "This game can't be shown yet. Kaiten TV continues at /tv.")
        played = film_so_far(found.game.text)
        begin = AskedFrame(Frame(found.game.rounds, 1, FilmStage.PICK), EVERYBODY)
        made = live_screen(found, found.game, played, begin)
        playing = None if found.game.rounds == ROUNDS else found.game.rounds + 1
        return page(request, "tv.html", screen=made, words=WORDS, show=match, match=found, playing=playing)

    return router


def _live(store: Store, activity: Activity, after: str | None) -> Iterator[str]:
    for match, game in watchable(store.live, activity, after):
        yield f"/tv/live/{match}/{game}"


def _recorded(store: Store, activity: Activity, after: str | None) -> Iterator[str]:
    games = [each.game.game for each in activity.remarkable]
    games += [game.game for game in store.games.newest(limit=_NEWEST)]
    shows = list(dict.fromkeys(games))
    begin = shows.index(after) + 1 if after in shows else 0
    yield from (f"/tv/games/{game}" for game in (*shows[begin:], *shows[:begin]))
