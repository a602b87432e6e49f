"""How bots were rated and whom they met, for programs."""

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter

from arena.rating import OVERALL
from arena.store import Store, VersionCurve
from web.api.paging import LISTED, Limit, Next
from web.api.routes import DataRouter
from web.bothistory import OpponentLine, read_opponents_of
from web.botpage import CURVE_VERSIONS
from web.problems import Problem
from web.reading import BotName, Offset, Players


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingPoint:
    """How a rating stood.

    Attributes:
        games: After so many of the version's games in this list.
        ended: When the last of them did; null before the first.
        mean: μ.
        deviation: σ.
    """

    games: int
    ended: datetime | None
    mean: float
    deviation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingCurve:
    """How the rating of a version went.

    Attributes:
        version: Its number.
        created: When it came to the ladder.
        points: From before its first game to now: at most 129, evenly thinned where there were more games.
    """

    version: int
    created: datetime
    points: tuple[RatingPoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingList:
    """How a bot was rated.

    Attributes:
        players: In games of so many; null for all.
        ratings: Of its newest versions, at most 20, oldest first.
        next: Always null.
    """

    players: int | None
    ratings: tuple[RatingCurve, ...]
    next: None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpponentList:
    """A page of the bots that a bot met.

    Attributes:
        opponents: Those that it met most first.
        next: The address of the next page, or null.
    """

    opponents: tuple[OpponentLine, ...]
    next: str | None


def histories_api(store: Store) -> APIRouter:
    """Return the routes of what happened to bots."""
    router = DataRouter("bots")

    @router.get("/bots/{bot}/ratings")
    def ratings(bot: BotName, players: Players = None) -> RatingList:
        """Return how the ratings of a bot's newest versions went, in games of so many players or in all."""
        curves = store.histories.curve(bot, players or OVERALL, CURVE_VERSIONS)
        if not curves:
            raise Problem(404, "There is no bot of this name.")
        return RatingList(players=players, ratings=tuple(map(_curve, curves)), next=None)

    @router.get("/bots/{bot}/opponents", responses=LISTED)
    def opponents(next_page: Next, bot: BotName, offset: Offset = 0, limit: Limit = 50) -> OpponentList:
        """List the bots that a bot has played with, those with most games first.

        All its versions' games count, but none with a bot that is disqualified.
        """
        known = store.bots.find(bot)
        if known is None:
            raise Problem(404, "There is no bot of this name.")
        (playing,) = store.bots.versions(bot, known.playing + 1, 1)
        found = read_opponents_of(store, bot, playing.results[OVERALL].rating, offset, limit + 1)
        more = len(found) > limit
        return OpponentList(opponents=found[:limit], next=next_page(offset=offset + limit) if more else None)

    return router


def _curve(curve: VersionCurve) -> RatingCurve:
    return RatingCurve(
        version=curve.version,
        created=curve.created,
        points=tuple(
            RatingPoint(
                games=point.games,
                ended=point.ended,
                mean=point.rating.mean,
                deviation=point.rating.deviation,
            )
            for point in curve.points
        ),
    )
