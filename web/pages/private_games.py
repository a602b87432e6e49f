"""Games that nobody's rating knows of, for their owners and operators: a page about each, and the viewer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse

from arena.store import Reads
from web.caller import Callers
from web.gamelogs import read_private_log
from web.pages.account import logged_in
from web.pages.viewer import viewer_routes
from web.privacy import viewer_of
from web.reading import GameId
from web.rendering import page
from web.replay import replay_table
from web.viewer.screen import Shown

_METHODS: Final = ["GET", "HEAD"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateGame:
    """A game of a challenge or of a submission.

    Attributes:
        shown: It, to be watched.
        above: The pages above its own, the outermost first: address and name.
        candidate: The seat of what is to become a version; None where all are versions.
    """

    shown: Shown
    above: tuple[tuple[str, str], ...]
    candidate: int | None


Find = Callable[..., PrivateGame]
"""Finds the game of an address; a dependency, which raises 404 for all who may not see it."""


def private_game_pages(find: Find, reads: Reads, callers: Callers, *, base: str) -> APIRouter:
    """Return the routes of private games.

    Args:
        find: Where they come from.
        reads: Where their logs come from.
        callers: Know who asks.
        base: What the addresses of the games begin with, without a slash at the end.
    """
    Found = Annotated[PrivateGame, Depends(find)]  # noqa: N806 - a type

    def shown(found: Found) -> Shown:
        return found.shown

    router = viewer_routes(shown, reads, callers, base=base, private=True)

    @router.api_route(
        f"{base}/{{game}}",
        methods=_METHODS,
        response_class=HTMLResponse,
        dependencies=[Depends(callers.note), Depends(logged_in)],
    )
    def one_game(request: Request, game: GameId, found: Found) -> Response:
        return page(
            request,
            "private_game.html",
            game=found,
            replay=replay_table(found.shown.replay, candidate=found.candidate),
            log=read_private_log(reads, game, viewer_of(request)),
        )

    return router
