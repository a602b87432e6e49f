"""Bots and their versions for programs: what there is, what plays, and what owners change of that."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, Self

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field, model_validator

from arena.accounts import Scope
from arena.owners import Owners
from arena.rating import Entry, conservative
from arena.store import Bots, BotState, KnownBot, KnownVersion
from web.api.description import problems
from web.api.guard import Guard, may_see
from web.api.paging import LISTED, Limit, Next
from web.api.refusals import REFUSED, refusal
from web.api.routes import DataRouter
from web.caller import Caller, Callers
from web.problems import Problem
from web.reading import LARGEST_VERSION, AfterBot, BeforeVersion, BotName


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """A bot.

    Attributes:
        name: Its own.
        author: Its author's name.
        house: Whether it is one of the arena's own.
        state: Whether it plays.
        reason: Why it does not; null where there is no more to say.
        since: When state or version changed last; null where neither ever did.
        version: The number of the version that plays, or would.
        newest: The highest number of a version.
    """

    name: str
    author: str
    house: bool
    state: BotState
    reason: str | None
    since: datetime | None
    version: int
    newest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BotList:
    """A page of bots.

    Attributes:
        bots: By name.
        next: The address of the next page, or null.
    """

    bots: tuple[Bot, ...]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a version did in rated games.

    Attributes:
        players: Games of so many; 0 for all.
        games: How many.
        wins: Games in which it was first, alone or shared.
        mean_place: 1 is best; null without a game.
        faulty: Games in which it had a fault.
        mean: μ.
        deviation: σ.
        score: μ - 3σ.
    """

    players: int
    games: int
    wins: int
    mean_place: float | None
    faulty: int
    mean: float
    deviation: float
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A version of a bot.

    Attributes:
        number: From 1.
        playing: Whether it is the one that plays, or would.
        created: When it came to the ladder.
        image: Id of its image, or its folder.
        sha256: Of the file that it came of; null where it came of none.
        size: Of that file, in bytes; null as above.
        note: Its author's own words; null for others than its owner and operators.
        available: Whether its image is still kept. Without it can't play again.
        results: For all games first, then by number of players.
    """

    number: int
    playing: bool
    created: datetime
    image: str
    sha256: str | None
    size: int | None
    note: str | None
    available: bool
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionList:
    """A page of versions.

    Attributes:
        versions: Newest first.
        next: The address of the next page, or null.
    """

    versions: tuple[Version, ...]
    next: str | None


class WantedChange(BaseModel):
    """What is to change: one of these, and not both.

    Attributes:
        version: The number of the version that is to play, from now on.
        state: Retired takes the bot off the ladder; active lets it play again.
    """

    model_config = ConfigDict(extra="forbid")

    version: Annotated[int, Field(ge=1, le=LARGEST_VERSION)] | None = None
    state: Literal["active", "retired"] | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.version is None) == (self.state is None):
            raise ValueError("name a version or a state, one of them")
        return self


def bots_api(bots: Bots, owners: Owners, callers: Callers) -> APIRouter:
    """Return the routes of bots."""
    router = DataRouter("bots")
    guard = Guard(callers)
    Anybody = Annotated[Caller | None, Depends(callers.note)]  # noqa: N806 - a type
    Reader = Annotated[Caller, guard(Scope.READ)]  # noqa: N806 - a type
    Owner = Annotated[Caller, guard(Scope.SUBMIT)]  # noqa: N806 - a type

    @router.get("/bots", responses=LISTED)
    def listed(next_page: Next, after: AfterBot = None, limit: Limit = 100) -> BotList:
        """List bots by name."""
        found = bots.listed(after, limit + 1)
        shown = tuple(map(_bot, found[:limit]))
        return BotList(bots=shown, next=next_page(after=shown[-1].name) if len(found) > limit else None)

    @router.get("/bots/{bot}")
    def one(bot: BotName) -> Bot:
        """Return a bot."""
        return _bot(_found(bots, bot))

    @router.get("/bots/{bot}/versions", responses=LISTED)
    def versions(
        caller: Anybody, next_page: Next, bot: BotName, before: BeforeVersion = None, limit: Limit = 50
    ) -> VersionList:
        """List the versions of a bot, newest first.

        Their notes are for the bot's owner and for operators, who ask with the scope read.
        """
        account = _found(bots, bot).account
        noted = caller is not None and Scope.READ in caller.scopes and may_see(caller, account)
        found = bots.versions(bot, before, limit + 1)
        shown = tuple(_version(each, noted=noted) for each in found[:limit])
        following = next_page(before=shown[-1].number) if len(found) > limit else None
        return VersionList(versions=shown, next=following)

    @router.get("/account/bots")
    def own(caller: Reader) -> BotList:
        """List one's own bots, all of them."""
        return BotList(bots=tuple(map(_bot, bots.of_account(caller.account.id))), next=None)

    @router.patch(
        "/bots/{bot}",
        responses=problems(
            {
                403: "The bot is somebody else's, or the token may not do this.",
                409: "The bot was disqualified, or the version's image was removed.",
            }
        ),
    )
    def change(caller: Owner, bot: BotName, wanted: WantedChange) -> Bot:
        """Let another version of one's bot play, take the bot off the ladder, or let it play again.

        A version that is named plays even where the bot was benched or retired.
        """
        account = caller.account.id
        try:
            if wanted.version is not None:
                changed = owners.play_version(account, bot, wanted.version)
            elif wanted.state == "retired":
                changed = owners.retire(account, bot)
            else:
                changed = owners.come_back(account, bot)
        except REFUSED as error:
            raise refusal(error) from error
        return _bot(changed)

    return router


def _found(bots: Bots, name: str) -> KnownBot:
    known = bots.find(name)
    if known is None:
        raise Problem(404, "There is no bot of this name.")
    return known


def _bot(known: KnownBot) -> Bot:
    return Bot(
        name=known.name,
        author=known.author,
        house=known.house,
        state=known.state,
        reason=known.reason,
        since=known.since,
        version=known.playing,
        newest=known.newest,
    )


def _version(known: KnownVersion, *, noted: bool) -> Version:
    return Version(
        number=known.number,
        playing=known.playing,
        created=known.created,
        image=known.source,
        sha256=known.sha256,
        size=known.size,
        note=known.note if noted else None,
        available=known.available,
        results=tuple(_result(players, entry) for players, entry in known.results.items()),
    )


def _result(players: int, entry: Entry) -> Result:
    return Result(
        players=players,
        games=entry.games,
        wins=entry.wins,
        mean_place=entry.place_sum / entry.games if entry.games else None,
        faulty=entry.faulty,
        mean=entry.rating.mean,
        deviation=entry.rating.deviation,
        score=conservative(entry.rating),
    )
