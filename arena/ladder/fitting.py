"""Fits β, the noise of a game, to played games, for each number of players.

The ratings before a game predict who finishes ahead of whom. A β is good if it gives the actual results a
high probability, that is, if the log-loss of the predictions is low. Ratings from before a game are
independent of its result, so the comparison is fair.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from statistics import fmean, stdev
from typing import Final

from arena.ladder.rating import BETAS, Rating, expected_with

_FEWEST: Final = 100
"""Minimum number of games for fitting a β."""

_RANGE: Final = 8.0
"""Maximum factor between the fitted β and the current one."""

LEAST: Final = 1e-12
"""Lower bound of a probability, so that no single game decides."""

_STEPS: Final = 30
_GOLDEN: Final = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedGame:
    """A game with the ratings before and after it; all tuples have one entry per seat."""

    versions: tuple[int, ...]  # ids
    ratings: tuple[Rating, ...]  # before
    rated: tuple[Rating, ...]  # after
    places: tuple[int, ...]
    ended: datetime  # UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class BetaFit:
    """The fit to games with one number of players."""

    players: int
    games: int  # number of games with at least one pair that didn't tie
    beta: float  # current β
    loss: float  # log-loss of a game's pairs with it, in nats; a fair coin has 0.693
    fitted: float  # the best β
    fitted_loss: float  # log-loss with the best one
    error: float  # standard error of the difference of both losses


def fit_betas(games: Iterable[PredictedGame]) -> tuple[BetaFit, ...]:
    """Fit β for every number of players with enough games, ascending."""
    by_players: dict[int, list[list[tuple[Rating, Rating]]]] = {players: [] for players in BETAS}
    for game in games:
        if pairs := _pairs(game):
            by_players[len(game.places)].append(pairs)
    return tuple(_fit(players, found) for players, found in by_players.items() if len(found) >= _FEWEST)


def _pairs(game: PredictedGame) -> list[tuple[Rating, Rating]]:
    """Return the pairs that didn't tie, each with the better placed rating first."""
    seats = sorted(zip(game.places, game.ratings, strict=True), key=lambda seat: seat[0])
    return [(first, second) for (one, first), (other, second) in combinations(seats, 2) if one != other]


def _fit(players: int, games: Sequence[Sequence[tuple[Rating, Rating]]]) -> BetaFit:
    beta = BETAS[players]
    low, high = math.log(beta / _RANGE), math.log(beta * _RANGE)
    for _ in range(_STEPS):  # golden section search
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if fmean(_losses(games, math.exp(left))) < fmean(_losses(games, math.exp(right))):
            high = right
        else:
            low = left
    fitted = math.exp((low + high) / 2)
    before, after = _losses(games, beta), _losses(games, fitted)
    gains = [old - new for old, new in zip(before, after, strict=True)]
    return BetaFit(
        players=players,
        games=len(games),
        beta=beta,
        loss=fmean(before),
        fitted=fitted,
        fitted_loss=fmean(after),
        error=stdev(gains) / math.sqrt(len(gains)),
    )


def _losses(games: Sequence[Sequence[tuple[Rating, Rating]]], beta: float) -> list[float]:
    """Return the log-loss of each game, averaged over its pairs."""
    return [
        -fmean(math.log(max(expected_with(beta, first, second), LEAST)) for first, second in pairs)
        for pairs in games
    ]
