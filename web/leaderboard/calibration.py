"""Calibration of the ratings on the latest games: its page and its API."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from fastapi import APIRouter, Request, Response

from arena.db.standings import RatingRepository
from arena.ladder.calibration import SHARE, Calibration, Span, calibrate
from arena.ladder.rating import BETAS
from web.http.api import DataRouter
from web.http.caching import conditional_response
from web.http.rendering import PageRouter, page
from web.leaderboard.cache import Boards

GAMES: Final = 10_000
"""Maximum number of rated games, the latest, to compare with their predictions."""

_CACHE_TIME: Final = timedelta(minutes=10)
"""Time until a comparison of many games is recomputed."""

_FEW: Final = 1000
"""A comparison of fewer games is fast, so it is recomputed after every match."""


class Calibrations:
    """Compares predictions with the latest games, on demand, and caches the result. Thread-safe."""

    def __init__(self, ratings: RatingRepository, boards: Boards, now: Callable[[], datetime]) -> None:
        self._ratings = ratings
        self._boards = boards
        self._now = now
        self._lock = Lock()
        self._cached: tuple[int, datetime, Calibration] | None = None

    def current(self) -> tuple[int, Calibration]:
        """Return a number that changes whenever the comparison does, and the comparison."""
        revision, _ = self._boards.state()
        with self._lock:
            if self._cached is None or not self._is_fresh(*self._cached, revision):
                games = self._ratings.predicted_games(GAMES)
                self._cached = revision, self._now(), calibrate(games)
            cached_revision, _, calibration = self._cached
            return cached_revision, calibration

    def _is_fresh(self, cached_revision: int, at: datetime, calibration: Calibration, revision: int) -> bool:
        if cached_revision == revision:
            return True
        return calibration.games >= _FEW and self._now() - at < _CACHE_TIME


_LOWEST_SHARE: Final = 0.3


def plotted(share: float) -> float:
    """Return a share's distance from a chart's lower or left edge, clamped to the range from 0 to 100."""
    return round(100 * max(0.0, min(1.0, (share - _LOWEST_SHARE) / (1 - _LOWEST_SHARE))), 1)


def calibration_pages(calibrations: Calibrations) -> APIRouter:
    """Return the route for the page."""
    router = PageRouter()

    @router.get("/leaderboard/calibration")
    def calibration(request: Request) -> Response:
        revision, found = calibrations.current()
        return conditional_response(
            request,
            (revision, "calibration"),
            lambda: page(
                request,
                "calibration.html",
                calibration=found,
                max_games=GAMES,
                share=SHARE,
                plotted=plotted,
                held=_held_share(found.spans),
            ),
        )

    return router


def _held_share(spans: tuple[Span, ...]) -> float | None:
    """Return the share of ratings that stayed in their interval, over all spans."""
    moves = sum(span.moves for span in spans)
    return sum((span.held or 0.0) * span.moves for span in spans) / moves if moves else None


@dataclass(frozen=True, slots=True, kw_only=True)
class BetaInUse:
    """The noise that predictions assume for a game.

    Attributes:
        players: Number of players.
        beta: Performance noise, on the scale of the ratings.
    """

    players: int
    beta: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationDocument:
    """Calibration of the ratings on the latest games.

    Attributes:
        most_games: Maximum number of games compared.
        betas: The noise that predictions assume, by number of players.
        calibration: The comparison.
    """

    most_games: int
    betas: tuple[BetaInUse, ...]
    calibration: Calibration


def calibration_api(calibrations: Calibrations) -> APIRouter:
    """Return the API route for the comparison."""
    router = DataRouter("arena")

    @router.get("/leaderboard/calibration")
    def calibration() -> CalibrationDocument:
        """Compare predictions for the latest rated games with their results.

        A comparison of 1,000 or more games may be up to ten minutes old.
        """
        _, found = calibrations.current()
        return CalibrationDocument(
            most_games=GAMES,
            betas=tuple(BetaInUse(players=players, beta=beta) for players, beta in BETAS.items()),
            calibration=found,
        )

    return router
