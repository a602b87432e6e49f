"""Challenges for programs: ask for unrated games against chosen opponents, and see how they went."""

from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, ConfigDict, Field

from arena.accounts import Scope
from arena.challenges import ChallengeSummary, summary
from arena.owners import MOST_DEALS, MOST_OPPONENTS, Owners
from arena.owners import WantedChallenge as Wanted
from arena.replay.document import PublicReplay
from arena.store import Challenges, KnownChallenge
from web.api.description import located, problems
from web.api.guard import Guard, may_see
from web.api.paging import LISTED, Limit, Next
from web.api.refusals import REFUSED, refusal
from web.api.routes import PREFIX, DataRouter
from web.caller import Caller, Callers
from web.problems import Problem
from web.reading import LARGEST_VERSION, Before, BotName, GameId

_REFUSED: Final = problems(
    {
        403: "The bot is somebody else's, or the token may not do this.",
        409: "The bot was disqualified.",
        429: "A quota is used up.",
        503: "The arena takes no bots of strangers, or its database does not answer.",
    }
)

ChallengeId = Annotated[str, Path(alias="id", pattern=r"^[0-9a-f]{1,64}$", description="Of a challenge.")]
Opponent = Annotated[str, Field(pattern=r"^[^\x00]{1,80}$")]


class WantedChallenge(BaseModel):
    """A challenge that somebody asks for.

    Attributes:
        opponents: Bots by name, or versions of them as in greedy@2.
        version: The number of the version that challenges; without, the one that plays.
        deals: Each is played once a seat, with everybody once on each.
    """

    model_config = ConfigDict(extra="forbid")

    opponents: Annotated[tuple[Opponent, ...], Field(min_length=1, max_length=MOST_OPPONENTS)]
    version: Annotated[int, Field(ge=1, le=LARGEST_VERSION)] | None = None
    deals: Annotated[int, Field(ge=1, le=MOST_DEALS)] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeList:
    """A page of challenges.

    Attributes:
        challenges: Newest first.
        next: The address of the next page, or null.
    """

    challenges: tuple[ChallengeSummary, ...]
    next: str | None


def challenge_api(challenges: Challenges, owners: Owners, callers: Callers) -> APIRouter:
    """Return the routes of challenges."""
    router = DataRouter("challenges")
    guard = Guard(callers)
    Owner = Annotated[Caller, guard(Scope.SUBMIT)]  # noqa: N806 - a type
    Reader = Annotated[Caller, guard(Scope.READ)]  # noqa: N806 - a type

    @router.post(
        "/bots/{bot}/challenges",
        status_code=201,
        responses=located("The address of the challenge.") | _REFUSED,
    )
    def challenge(
        response: Response, caller: Owner, bot: BotName, wanted: WantedChallenge
    ) -> ChallengeSummary:
        """Let one's bot play unrated games against chosen opponents.

        These are other bots, or versions of one's own.
        """
        asked = Wanted(bot=bot, version=wanted.version, opponents=wanted.opponents, deals=wanted.deals)
        try:
            made = owners.challenge(caller.account.id, asked)
        except REFUSED as error:
            raise refusal(error) from error
        response.headers["Location"] = f"{PREFIX}/challenges/{made.id}"
        return summary(made)

    @router.get("/challenges", responses=LISTED)
    def own(caller: Reader, next_page: Next, before: Before = None, limit: Limit = 20) -> ChallengeList:
        """List one's own challenges, newest first."""
        found = challenges.newest(caller.account.id, before, limit + 1)
        shown = found[:limit]
        return ChallengeList(
            challenges=tuple(map(summary, shown)),
            next=next_page(before=shown[-1].number) if len(found) > limit else None,
        )

    @router.get("/challenges/{id}")
    def one(caller: Reader, id_: ChallengeId) -> ChallengeSummary:
        """Return a challenge with what was played so far."""
        return summary(_own(challenges, caller, id_))

    @router.get("/challenges/{id}/games/{game}/replay", responses={200: {"model": PublicReplay}})
    def replay(caller: Reader, id_: ChallengeId, game: GameId) -> Response:
        """Return the replay of a game of a challenge."""
        for played in _own(challenges, caller, id_).games:
            if played.game == game:
                return Response(played.replay, media_type="application/json")
        raise Problem(404, "This challenge has no such game.")

    return router


def _own(challenges: Challenges, caller: Caller, id_: str) -> KnownChallenge:
    """Return a challenge that this caller may see. What others asked for isn't there."""
    known = challenges.find(id_)
    if known is None or not may_see(caller, known.account):
        raise Problem(404, "You have no such challenge.")
    return known
