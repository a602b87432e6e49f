"""The pages and API for challenges: requests, progress, results and games."""

from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter, HTTPException, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from arena.db.challenges import ChallengeGame, Challenges, KnownChallenge
from arena.db.store import Store
from arena.play.replay.document import PublicReplay
from arena.protocol.challenges import ChallengeSummary
from arena.services.owners import MAX_DEALS, MAX_OPPONENTS, Owners, RequestedChallenge, challenge_summary
from web.games.pages import private_game_pages
from web.http.api import (
    LISTED,
    PREFIX,
    REFUSED,
    DataRouter,
    Limit,
    Next,
    Owner,
    Reader,
    located,
    problems,
    refusal,
)
from web.http.authentication import Caller, Session
from web.http.errors import Problem
from web.http.parameters import MAX_VERSION, Before, BotName, GameId
from web.http.rendering import PageRouter, Viewer, page, viewer_of
from web.viewer.screen import Shown

_REFUSED: Final = problems(
    {
        403: "The bot belongs to another account, or the token lacks the scope.",
        409: "The bot was disqualified.",
        429: "A quota has been reached.",
        503: "The arena isn't running submitted bots, or its database is not responding.",
    }
)

ChallengeId = Annotated[str, Path(alias="id", pattern=r"^[0-9a-f]{1,64}$", description="A challenge's id.")]
Opponent = Annotated[str, Field(pattern=r"^[^\x00]{1,80}$")]


class WantedChallenge(BaseModel):
    """A requested challenge.

    Attributes:
        opponents: Bots, or versions of bots such as ``greedy@2``.
        version: Number of your bot's version. Default: the active one.
        deals: Number of deals. Each is played once per seat, so that every bot plays it from every seat.
    """

    model_config = ConfigDict(extra="forbid")

    opponents: Annotated[tuple[Opponent, ...], Field(min_length=1, max_length=MAX_OPPONENTS)]
    version: Annotated[int, Field(ge=1, le=MAX_VERSION)] | None = None
    deals: Annotated[int, Field(ge=1, le=MAX_DEALS)] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeList:
    """A page of challenges.

    Attributes:
        challenges: The challenges, newest first.
        next: The URL of the next page, or null.
    """

    challenges: tuple[ChallengeSummary, ...]
    next: str | None


def challenge_api(challenges: Challenges, owners: Owners) -> APIRouter:
    """Return the routes for the challenge API."""
    router = DataRouter("challenges")

    @router.post(
        "/bots/{bot}/challenges",
        status_code=201,
        responses=located("The address of the challenge.") | _REFUSED,
    )
    def challenge(response: Response, caller: Owner, bot: BotName, body: WantedChallenge) -> ChallengeSummary:
        """Play unrated games between your bot and chosen opponents.

        Opponents are other bots, versions of other bots, or other versions of your bot.
        """
        requested = RequestedChallenge(
            bot=bot, version=body.version, opponents=body.opponents, deals=body.deals
        )
        try:
            challenge = owners.challenge(caller.account.id, requested)
        except REFUSED as error:
            raise refusal(error) from error
        response.headers["Location"] = f"{PREFIX}/challenges/{challenge.id}"
        return challenge_summary(challenge)

    @router.get("/challenges", responses=LISTED)
    def own(caller: Reader, next_page: Next, before: Before = None, limit: Limit = 20) -> ChallengeList:
        """List the caller's challenges, newest first."""
        found = challenges.newest(caller.account.id, before, limit + 1)
        shown = found[:limit]
        return ChallengeList(
            challenges=tuple(map(challenge_summary, shown)),
            next=next_page(before=shown[-1].number) if len(found) > limit else None,
        )

    @router.get("/challenges/{id}")
    def one(caller: Reader, id_: ChallengeId) -> ChallengeSummary:
        """Return a challenge with its results so far."""
        return challenge_summary(_own_challenge(challenges, caller, id_))

    @router.get("/challenges/{id}/games/{game}/replay", responses={200: {"model": PublicReplay}})
    def replay(caller: Reader, id_: ChallengeId, game: GameId) -> Response:
        """Return the replay of one of a challenge's games."""
        for played in _own_challenge(challenges, caller, id_).games:
            if played.game == game:
                return Response(played.replay, media_type="application/json")
        raise Problem(404, "This challenge has no such game.")

    return router


def _own_challenge(challenges: Challenges, asking: Caller | Viewer, id_: str) -> KnownChallenge:
    """Return a challenge. Raises Problem (404) if ``asking`` may not see it."""
    known = challenges.find(id_)
    if known is None or not asking.may_see(known.account):
        raise Problem(404, "You have no such challenge.")
    return known


PER_PAGE: Final = 10


def challenge_pages(store: Store) -> APIRouter:
    """Return the routes for the challenge pages. They require a session; programs use the API."""
    router = PageRouter(prefix="/challenges", private=True)

    @router.get("")
    def listed(request: Request, session: Session, before: Before = None) -> Response:
        found = store.challenges.newest(session.account.id, before, PER_PAGE + 1)
        shown = found[:PER_PAGE]
        return page(
            request,
            "challenges.html",
            challenges=tuple(map(challenge_summary, shown)),
            older=shown[-1].number if len(found) > len(shown) else None,
            before=before,
        )

    @router.get("/{id}")
    def one(request: Request, id_: ChallengeId) -> Response:
        known = _own_challenge(store.challenges, viewer_of(request), id_)
        return page(request, "challenge.html", challenge=challenge_summary(known), running=known.running)

    def game(request: Request, id_: ChallengeId, game: GameId) -> Shown:
        known = _own_challenge(store.challenges, viewer_of(request), id_)
        for number, played in enumerate(known.games, start=1):
            if played.game == game:
                return _private_game(known, number, played)
        raise HTTPException(404, "This challenge has no such game.")

    games = private_game_pages(game, store.logs, base="/challenges/{id}/games")
    games.routes += router.routes
    return games


def _private_game(challenge: KnownChallenge, number: int, played: ChallengeGame) -> Shown:
    above = f"/challenges/{challenge.id}"
    home = f"{above}/games/{played.game}"
    version = f"{challenge.bot}@{challenge.version}"
    return Shown(
        title=f"Challenge by {version}, game {number}",
        replay=played.replay,
        home=home,
        base=home,
        download=f"{PREFIX}{home}/replay",
        above=(("/challenges", "Challenges"), (above, version)),
    )
