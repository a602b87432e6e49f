"""The API for rated games, and for the logs of the caller's bots."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request, Response

from arena.db.analyses import Analyses
from arena.db.bots import Bots
from arena.db.game_logs import GameLogs, SeatLog, StoredGameLog
from arena.db.games import GameRepository, GameSeat
from arena.protocol.analysis import Analysis
from arena.protocol.games import GameList, LoggedSeat, Logs
from web.games.listing import GamesQuery, read_games
from web.http.api import LISTED, DataRouter, Limit, Next, Reader, problems
from web.http.caching import tagged
from web.http.errors import Problem
from web.http.parameters import GameId, OfVersion, read_game, stored_replay
from web.http.rendering import PageRouter
from web.viewer.logs import decisions

_LOGS_DELETED: Final = "The logs of this game have been deleted."


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """A game.

    Attributes:
        game: The game's id.
        match: The match's id.
        number: The game's position (starting at 1) in the order in which games were rated.
        players: Number of players.
        variants: Names of the variants in play.
        ended: End of the match.
        rated: Whether the game counts towards ratings. Games with a disqualified bot don't.
        replay: The address of the replay.
        seats: The seats, in order.
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


def games_api(repository: GameRepository, bots: Bots, analyses: Analyses) -> APIRouter:
    """Return the routes for games. Public replays have addresses below their games' pages."""
    router, replays = DataRouter("games"), PageRouter(anonymous=True)

    @router.get("/games", responses=LISTED)
    def games(
        next_page: Next,
        query: Annotated[GamesQuery, Depends()],
        version: OfVersion = None,
        limit: Limit = 50,
    ) -> GameList:
        """List rated games, newest first by default, optionally filtered.

        With filters other than ``bot`` and ``version``, a page covers at most 20,000 games, so it can be
        empty even if there is a next page. In orders other than newest, each block of 20,000 games is sorted
        separately.
        """
        if version is not None and query.bot is None:
            raise Problem(422, "Invalid request. version: requires the parameter `bot`.")
        if version is not None and query.searches:
            raise Problem(422, "Invalid request. version: can't be combined with filters other than bot.")
        found = read_games(repository, bots, query, limit, version=version)
        start = found.following or found.older
        return GameList(games=found.games, next=None if start is None else next_page(**start))

    @router.get("/games/{game}")
    def one_game(game: GameId) -> Game:
        """Return a game; its moves are in its replay."""
        found = read_game(repository, game)
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

    @router.get("/games/{game}/analysis")
    def one_analysis(game: GameId) -> Analysis:
        """Return each seat's chances turn by turn, and the cost of each decision."""
        read_game(repository, game)
        found = analyses.find(game)
        if found is None:
            raise Problem(
                404, "This game has not been analysed.", hint="Analyse it with `arena analyse GAME`."
            )
        return found

    @replays.get("/games/{game}/replay.json")
    def replay(request: Request, game: GameId) -> Response:
        found = stored_replay(read_game(repository, game))
        return tagged(request, Response(found, media_type="application/json"))

    router.routes += replays.routes
    return router


def logs_api(repository: GameLogs) -> APIRouter:
    """Return the route for logs."""
    router = DataRouter("games")

    @router.get("/games/{game}/logs", responses=problems({410: _LOGS_DELETED}))
    def logs(caller: Reader, game: GameId) -> Logs:
        """Return the logs of the caller's bots in a game, rated or not; operators see all logs."""
        log = repository.find(game)
        seats = [seat for seat in log.seats if caller.may_see(seat.account)] if log else []
        if log is None or not seats:
            raise Problem(404, "None of your bots played in a game with this id.")
        if not log.kept:
            raise Problem(
                410,
                _LOGS_DELETED,
                hint="The operator decides how long logs are stored.",
            )
        return Logs(game=log.game, match=log.match, seats=tuple(_seat(log, seat) for seat in seats))

    return router


def _seat(log: StoredGameLog, seat: SeatLog) -> LoggedSeat:
    return LoggedSeat(
        seat=seat.seat,
        bot=seat.bot,
        version=seat.version,
        exit_code=seat.report.exit_code,
        out_of_memory=seat.report.out_of_memory,
        trouble=seat.report.trouble,
        stderr=seat.report.stderr,
        decisions=decisions(log, seat.seat),
    )
