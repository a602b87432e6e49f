"""Challenges, for whoever asked for them: how far each is, how everybody did, the games."""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, HTTPException, Path, Request, Response
from fastapi.responses import HTMLResponse

from arena.challenges import summary
from arena.store import ChallengeGame, KnownChallenge, Store
from web.api.routes import PREFIX
from web.caller import Callers
from web.pages.account import Session, logged_in
from web.pages.private_games import PrivateGame, private_game_pages
from web.privacy import viewer_of
from web.reading import Before, GameId
from web.rendering import page
from web.viewer.screen import Shown

A_PAGE: Final = 10
_METHODS: Final = ["GET", "HEAD"]

ChallengeId = Annotated[str, Path(alias="id", pattern=r"^[0-9a-f]{1,64}$")]


def challenge_pages(store: Store, callers: Callers) -> APIRouter:
    """Return the routes of challenges. They take a session; programs have the API."""
    asked = [Depends(callers.note), Depends(logged_in)]
    router = APIRouter(prefix="/challenges", default_response_class=HTMLResponse, dependencies=asked)
    pages = _Challenges(store)
    for path, action in (("", pages.listed), ("/{id}", pages.one)):
        router.add_api_route(path, action, methods=_METHODS)
    games = private_game_pages(pages.game, store.reads, callers, base="/challenges/{id}/games")
    games.include_router(router)
    return games


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
        known = self._own(request, id_)
        return page(request, "challenge.html", challenge=summary(known), running=known.running)

    def game(self, request: Request, id_: ChallengeId, game: GameId) -> PrivateGame:
        known = self._own(request, id_)
        for number, played in enumerate(known.games, start=1):
            if played.game == game:
                return _private_game(known, number, played)
        raise HTTPException(404, "This challenge has no such game.")

    def _own(self, request: Request, id_: str) -> KnownChallenge:
        """Return a challenge that this viewer may see. What others asked for isn't there."""
        known = self._store.challenges.find(id_)
        if known is None or not viewer_of(request).may_see(known.account):
            raise HTTPException(404, "You have no such challenge.")
        return known


def _private_game(challenge: KnownChallenge, number: int, played: ChallengeGame) -> PrivateGame:
    above = f"/challenges/{challenge.id}"
    home = f"{above}/games/{played.game}"
    version = f"{challenge.bot}@{challenge.version}"
    shown = Shown(
        title=f"Challenge of {version}, game {number}",
        replay=played.replay,
        home=home,
        base=home,
        download=f"{PREFIX}{home}/replay",
        embed=None,
    )
    return PrivateGame(shown=shown, above=(("/challenges", "Challenges"), (above, version)), candidate=None)
