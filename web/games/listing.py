"""The list of rated games: all of them, or those that match filters, in a chosen order."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Request, Response

from arena.db.bots import Bots
from arena.db.game_search import GameFilter, GameOrder, Position
from arena.db.games import GameRepository, GameSummary
from web.http.errors import Problem
from web.http.parameters import (
    BLANK,
    AfterPosition,
    Before,
    BestPoints,
    Faults,
    Margin,
    OfAuthor,
    OfBot,
    Order,
    Players,
    Since,
    Until,
    query_string,
)
from web.http.rendering import PageRouter, page

GAMES_PER_PAGE: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class GamesQuery:
    """The query parameters of lists of games. None means no filter, or the first page."""

    bot: Annotated[OfBot, BLANK] = None
    author: Annotated[OfAuthor, BLANK] = None
    players: Annotated[Players, BLANK] = None
    points: Annotated[BestPoints, BLANK] = None
    margin: Annotated[Margin, BLANK] = None
    faults: Annotated[Faults, BLANK] = None
    since: Annotated[Since, BLANK] = None
    until: Annotated[Until, BLANK] = None
    order: Order = GameOrder.NEWEST
    before: Before = None
    after: AfterPosition = None

    @property
    def filter(self) -> GameFilter:
        """The filter for the store."""
        return GameFilter(
            bot=self.bot,
            author=self.author,
            players=self.players,
            points=self.points,
            margin=self.margin,
            faults=None if self.faults is None else self.faults == "yes",
            since=self.since,
            until=self.until,
        )

    @property
    def position(self) -> Position | None:
        """The position after which the page starts. Raises Problem if the order has no positions."""
        if self.after is None:
            return None
        if self.order is GameOrder.NEWEST:
            raise Problem(422, "Invalid request. after: requires an `order` other than newest.")
        value, _, number = self.after.partition("_")
        return Position(float(value), int(number))

    @property
    def searches(self) -> bool:
        """True if the list has filters other than the bot, or an order other than newest."""
        return self.filter != GameFilter(bot=self.bot) or self.order is not GameOrder.NEWEST

    def at(self, **changes: Any) -> str:  # noqa: ANN401 - values of any field
        """Return the query string of the first page, with these parameters changed."""
        first = replace(self, before=None, after=None)
        return query_string(asdict(replace(first, **changes)), asdict(GamesQuery()))


Start = Mapping[str, int | str | None]
"""The parameters ``before`` and ``after``, which set where a page starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedGames:
    """A page of games."""

    games: tuple[GameSummary, ...]
    following: Start | None  # the next page of the list, or of the searched games
    searched: range | None  # numbers of the searched games; None if no older game can match
    chances: Mapping[int, float] | None  # of the upsets, by game number; None in another order

    @property
    def older(self) -> Start | None:
        """The first page of a search of older games."""
        return None if self.searched is None else {"before": self.searched.start, "after": None}


def read_games(
    games: GameRepository, bots: Bots, query: GamesQuery, limit: int, *, version: int | None = None
) -> ListedGames:
    """Return at most ``limit`` games from a list. The bot's name may be in any case.

    ``version`` selects one version of a bot, in a list that isn't a search. Raises Problem if a parameter
    doesn't apply to the list.
    """
    position = query.position
    if query.bot is not None and (bot := bots.find_in_any_case(query.bot)) is not None:
        query = replace(query, bot=bot.name)
    if query.searches:
        found = games.search(query.filter, query.order, query.before, limit + 1, position)
        listed, searched = found.games, found.searched if found.older else None
    else:
        listed, searched = games.newest(query.before, limit + 1, bot=query.bot, version=version), None
    following: Start | None = None
    chances = None
    if query.order is GameOrder.UPSET:
        chances = {each.number: each.value for each in found.positions}
    if len(listed) > limit and query.order is GameOrder.NEWEST:
        following = {"before": listed[limit - 1].number, "after": None}
    elif len(listed) > limit:
        last = found.positions[limit - 1]
        # With ``before``, each page searches the same games, even if there are new ones.
        following = {"before": found.searched.stop, "after": f"{last.value}_{last.number}"}
    return ListedGames(games=listed[:limit], following=following, searched=searched, chances=chances)


def games_list_pages(repository: GameRepository, bots: Bots) -> APIRouter:
    """Return the route for the list of games."""
    router = PageRouter()

    @router.get("/games")
    def games(request: Request, query: Annotated[GamesQuery, Depends()]) -> Response:
        found = read_games(repository, bots, query, GAMES_PER_PAGE)
        return page(request, "games.html", found=found, query=query)

    return router
