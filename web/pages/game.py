"""The page of a rated game: one for everybody, with a private part for those whose bots played it."""

from typing import Final

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse

from arena.store import BotState, Store
from arena.store.reads import GamePage
from web.caller import Callers
from web.gamelogs import read_private_log
from web.pages.frames import origin
from web.privacy import viewer_of
from web.reading import GameId, read_game
from web.rendering import page
from web.replay import replay_table

_METHODS: Final = ["GET", "HEAD"]


def game_pages(store: Store, callers: Callers) -> APIRouter:
    """Return the route of games."""
    router = APIRouter(default_response_class=HTMLResponse, dependencies=[Depends(callers.note)])

    @router.api_route("/games/{game}", methods=_METHODS)
    def one_game(request: Request, game: GameId) -> Response:
        found = read_game(store.reads, game)
        return page(
            request,
            "game.html",
            game=found,
            origin=origin(request),
            disqualified=() if found.counts else _disqualified(store, found),
            replay=replay_table(found.replay) if found.replay else None,
            log=read_private_log(store.reads, game, viewer_of(request)),
        )

    return router


def _disqualified(store: Store, game: GamePage) -> tuple[str, ...]:
    """Return the names of the bots for which a game doesn't count."""
    known = (store.bots.find(seat.bot) for seat in game.seats)
    return tuple(bot.name for bot in known if bot is not None and bot.state is BotState.DISQUALIFIED)
