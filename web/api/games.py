"""Rated games, for everybody."""

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Response

from arena.store import Reads
from arena.store.reads import GameSeat, GameSummary, SeatResult
from web.api.paging import LISTED, Limit, Next
from web.api.routes import DataRoute, DataRouter
from web.problems import Problem
from web.reading import Before, GameId, OfBot, OfVersion, read_game, replay_of


@dataclass(frozen=True, slots=True, kw_only=True)
class GameLine:
    """A line of the list of games.

    Attributes:
        game: Id.
        number: Its place in the order of rating, from 1.
        players: How many.
        ended: When.
        seats: In seat order.
    """

    game: str
    number: int
    players: int
    ended: datetime
    seats: tuple[SeatResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GameList:
    """A page of games.

    Attributes:
        games: Newest first.
        next: The address of the next page, or null.
    """

    games: tuple[GameLine, ...]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """A game.

    Attributes:
        game: Id.
        match: Id of its match.
        number: Its place in the order of rating, from 1.
        players: How many.
        variants: Names of the variants in play.
        ended: When.
        rated: Whether it counts; not, where a bot sits in it that was disqualified.
        replay: The address of its replay.
        seats: In seat order.
    """

    game: str
    match: str
    number: int
    players: int
    variants: tuple[str, ...]
    ended: datetime
    rated: bool
    replay: str
    seats: tuple[GameSeat, ...]


def games_api(reads: Reads) -> APIRouter:
    """Return the routes of games."""
    router = DataRouter("games")

    @router.get("/games", responses=LISTED)
    def games(
        next_page: Next,
        bot: OfBot = None,
        version: OfVersion = None,
        before: Before = None,
        limit: Limit = 50,
    ) -> GameList:
        """List rated games, newest first; of a bot or a version of it, or all."""
        if version is not None and bot is None:
            raise Problem(422, "This can't be asked. version: name its bot as well.")
        found = reads.games(before, limit + 1, bot=bot, version=version)
        shown = tuple(map(_line, found[:limit]))
        return GameList(games=shown, next=next_page(before=shown[-1].number) if len(found) > limit else None)

    @router.get("/games/{game}")
    def one_game(game: GameId) -> Game:
        """Return a game; its moves are in its replay."""
        found = read_game(reads, game)
        return Game(
            game=found.game,
            match=found.match,
            number=found.number,
            players=found.players,
            variants=found.variants,
            ended=found.ended,
            rated=found.counts,
            replay=f"/games/{found.game}/replay.json",
            seats=found.seats,
        )

    return router


def replay_api(reads: Reads) -> APIRouter:
    """Return the route of the public replays, which stands beside the pages of games."""
    router = APIRouter(route_class=DataRoute)

    @router.api_route("/games/{game}/replay.json", methods=["GET", "HEAD"])
    def replay(game: GameId) -> Response:
        return Response(replay_of(read_game(reads, game)), media_type="application/json")

    return router


def _line(game: GameSummary) -> GameLine:
    return GameLine(
        game=game.game,
        number=game.number,
        players=game.players,
        ended=game.ended,
        seats=game.seats,
    )
