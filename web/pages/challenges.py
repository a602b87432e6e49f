"""Challenges, for whoever asked for them: how far each is, how everybody did, the games."""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, HTTPException, Path, Request, Response
from fastapi.responses import HTMLResponse

from arena.challenges import summary
from arena.store import KnownChallenge, Store
from web.caller import Callers
from web.gamelogs import read_private_log
from web.pages.account import Session, logged_in
from web.privacy import viewer_of
from web.reading import Before, GameId
from web.rendering import page
from web.replay import replay_table

A_PAGE: Final = 10
_METHODS: Final = ["GET", "HEAD"]

ChallengeId = Annotated[str, Path(alias="id", pattern=r"^[0-9a-f]{1,64}$")]


def challenge_pages(store: Store, callers: Callers) -> APIRouter:
    """Return the routes of challenges. They take a session; programs have the API."""
    asked = [Depends(callers.note), Depends(logged_in)]
    router = APIRouter(prefix="/challenges", default_response_class=HTMLResponse, dependencies=asked)
    pages = _Challenges(store)
    for path, action in (("", pages.listed), ("/{id}", pages.one), ("/{id}/games/{game}", pages.game)):
        router.add_api_route(path, action, methods=_METHODS)
    return router


class _Challenges:
    """Answers the requests."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def listed(self, request: Request, session: Session, before: Before = None) -> Response:
        found = self._store.challenges.newest(session.account.id, before, A_PAGE + 1)
        shown = found[:A_PAGE]
        return page(
            request,
            "challenges.html",
            challenges=tuple(map(summary, shown)),
            older=shown[-1].number if len(found) > len(shown) else None,
            before=before,
        )

    def one(self, request: Request, id_: ChallengeId) -> Response:
        return page(request, "challenge.html", challenge=summary(self._own(request, id_)))

    def game(self, request: Request, id_: ChallengeId, game: GameId) -> Response:
        known = self._own(request, id_)
        found = summary(known)
        for index, (played, line) in enumerate(zip(known.games, found.games, strict=True)):
            if played.game == game:
                return page(
                    request,
                    "challenge_game.html",
                    challenge=found,
                    number=index + 1,
                    game=line,
                    replay=replay_table(played.replay),
                    log=read_private_log(self._store.reads, game, viewer_of(request)),
                )
        raise HTTPException(404, "This challenge has no such game.")

    def _own(self, request: Request, id_: str) -> KnownChallenge:
        """Return a challenge that this viewer may see. What others asked for isn't there."""
        known = self._store.challenges.find(id_)
        if known is None or not viewer_of(request).may_see(known.account):
            raise HTTPException(404, "You have no such challenge.")
        return known
