"""The API for bots and their versions, including what owners may change."""

from dataclasses import dataclass
from typing import Annotated, Literal, Self

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, model_validator

from arena.db.bots import Bots
from arena.db.histories import RatingCurve
from arena.db.store import Store
from arena.ladder.rating_events import OVERALL
from arena.protocol.bots import Bot, BotList, VersionList
from arena.services.owners import Owners
from web.bots.history import OpponentLine, read_opponents
from web.bots.model import CURVE_VERSIONS, version_of
from web.http.api import (
    LISTED,
    REFUSED,
    DataRouter,
    Limit,
    Next,
    OptionalCaller,
    Owner,
    Reader,
    problems,
    refusal,
)
from web.http.authentication import may_read
from web.http.errors import Problem
from web.http.parameters import MAX_VERSION, AfterBot, BeforeVersion, BotName, Offset, Players, read_bot


class WantedChange(BaseModel):
    """A change to a bot. Exactly one field must be set.

    Attributes:
        version: Number of the version to activate.
        state: ``retired`` takes the bot off the ladder; ``active`` reactivates it.
        open_to_people: Whether anyone may play against the bot.
    """

    model_config = ConfigDict(extra="forbid")

    version: Annotated[int, Field(ge=1, le=MAX_VERSION)] | None = None
    state: Literal["active", "retired"] | None = None
    open_to_people: bool | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if [self.version, self.state, self.open_to_people].count(None) != 2:  # noqa: PLR2004 - two of three are unset
            raise ValueError("set exactly one of version, state and open_to_people")
        return self


def bots_api(bots: Bots, owners: Owners) -> APIRouter:
    """Return the routes for bots."""
    router = DataRouter("bots")

    @router.get("/bots", responses=LISTED)
    def listed(next_page: Next, after: AfterBot = None, limit: Limit = 100) -> BotList:
        """List bots, sorted by name."""
        found = bots.listed(after, limit + 1)
        shown = found[:limit]
        return BotList(bots=shown, next=next_page(after=shown[-1].name) if len(found) > limit else None)

    @router.get("/bots/{bot}")
    def one(bot: BotName) -> Bot:
        """Return a bot."""
        return read_bot(bots, bot)

    @router.get("/bots/{bot}/versions", responses=LISTED)
    def versions(
        caller: OptionalCaller, next_page: Next, bot: BotName, before: BeforeVersion = None, limit: Limit = 50
    ) -> VersionList:
        """List a bot's versions, newest first.

        Only the bot's owner and operators see the notes, and only with the `read` scope.
        """
        account = read_bot(bots, bot).account
        noted = may_read(caller, account)
        found = bots.versions(bot, before, limit + 1)
        shown = tuple(version_of(each, noted=noted) for each in found[:limit])
        following = next_page(before=shown[-1].number) if len(found) > limit else None
        return VersionList(versions=shown, next=following)

    @router.get("/account/bots")
    def own(caller: Reader) -> BotList:
        """List all of the caller's bots."""
        return BotList(bots=bots.of_account(caller.account.id), next=None)

    @router.patch(
        "/bots/{bot}",
        responses=problems(
            {
                403: "The bot belongs to another account, or the token lacks the scope.",
                409: "The bot was disqualified, or the version's image was removed.",
            }
        ),
    )
    def change(caller: Owner, bot: BotName, body: WantedChange) -> Bot:
        """Activate another version of your bot, retire or reactivate the bot, or open or close it to people.

        Activating a version also reactivates a benched or retired bot.
        """
        account = caller.account.id
        try:
            if body.version is not None:
                return owners.play_version(account, bot, body.version)
            if body.open_to_people is not None:
                return owners.open_to_people(account, bot, is_open=body.open_to_people)
            if body.state == "retired":
                return owners.retire(account, bot)
            return owners.reactivate(account, bot)
        except REFUSED as error:
            raise refusal(error) from error

    return router


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingList:
    """A bot's rating histories.

    Attributes:
        players: Number of players, or null for all games.
        ratings: Histories of up to 20 of the latest versions, oldest first.
        next: Always null.
    """

    players: int | None
    ratings: tuple[RatingCurve, ...]
    next: None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpponentList:
    """A page of a bot's opponents.

    Attributes:
        opponents: Opponents, sorted by number of games in descending order.
        next: The URL of the next page, or null.
    """

    opponents: tuple[OpponentLine, ...]
    next: str | None


def histories_api(store: Store) -> APIRouter:
    """Return the routes for rating histories and opponents."""
    router = DataRouter("bots")

    @router.get("/bots/{bot}/ratings")
    def ratings(bot: BotName, players: Players = None) -> RatingList:
        """Return the rating curves of a bot's latest versions, for a given number of players or all games."""
        curves = store.histories.curve(bot, players or OVERALL, CURVE_VERSIONS)
        if not curves:
            raise Problem(404, "There is no bot with this name.")
        return RatingList(players=players, ratings=curves, next=None)

    @router.get("/bots/{bot}/opponents", responses=LISTED)
    def opponents(
        next_page: Next, bot: BotName, players: Players = None, offset: Offset = 0, limit: Limit = 50
    ) -> OpponentList:
        """List a bot's opponents, those with the most games first.

        All versions' games count, except those with a disqualified bot. ``expected`` is computed for games
        with ``players`` players, from the ratings in these games. By default, it is computed from the ratings
        in all games, and averaged over the ladder's table sizes.
        """
        known = read_bot(store.bots, bot)
        (playing,) = store.bots.versions(bot, known.version + 1, 1)
        found = read_opponents(store, bot, playing.results, players, offset, limit + 1)
        more = len(found) > limit
        return OpponentList(opponents=found[:limit], next=next_page(offset=offset + limit) if more else None)

    return router
