"""Bots and their versions for programs: what there is, what plays, and what owners change of that."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, Self

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field, model_validator

from arena.accounts import Scope
from arena.owners import Owners
from arena.store import Bots, BotState, KnownBot
from web.api.description import problems
from web.api.guard import Guard, may_see
from web.api.paging import LISTED, Limit, Next
from web.api.refusals import REFUSED, refusal
from web.api.routes import DataRouter
from web.api.versions import VersionList, version_of
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
        shown = tuple(version_of(each, noted=noted) for each in found[:limit])
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
