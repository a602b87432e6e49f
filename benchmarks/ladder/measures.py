"""Measures of the ratings' order, intervals and predictions."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from statistics import fmean, stdev
from typing import NamedTuple

from arena.ladder.calibration import PredictedGame
from arena.ladder.odd_results import odd_pairs
from arena.ladder.rank_intervals import Field
from arena.ladder.rating import Rating, expected
from arena.ladder.skills import with_model_error
from benchmarks.ladder.populations import SIZES, Population
from benchmarks.ladder.simulation import SimulatedGame


class Estimate(NamedTuple):
    """A mean over runs with its standard error, which is NaN for a single run."""

    mean: float
    error: float


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean over runs. Runs are the sample, because the bots in one run aren't independent."""
    error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return Estimate(fmean(values), error)


def kendall(values: Mapping[int, float], truth: Sequence[float]) -> float:
    """Return Kendall's τ between an order and the true one: agreeing minus disagreeing pairs, per pair."""
    bots = sorted(values)
    signs = [
        _sign(values[bot] - values[other]) * _sign(truth[bot] - truth[other])
        for index, bot in enumerate(bots)
        for other in bots[:index]
    ]
    return fmean(signs)


class IntervalQuality(NamedTuple):
    """The quality of rank intervals."""

    share: float  # share of true ranks inside their interval
    width: float  # mean difference between worst and best rank


def coverage(skills: Mapping[int, Rating], truth: Sequence[float]) -> IntervalQuality:
    """Compare the rank intervals of skills with the true ranks."""
    field = Field({bot: with_model_error(skill) for bot, skill in skills.items()})
    better = sorted((truth[bot] for bot in skills), reverse=True)
    intervals = {bot: field.interval(bot) for bot in skills}
    inside = [low <= better.index(truth[bot]) + 1 <= high for bot, (low, high) in intervals.items()]
    return IntervalQuality(fmean(inside), fmean(high - low for low, high in intervals.values()))


def odd_results(games: Iterable[SimulatedGame], ratings: Mapping[int, Rating]) -> int:
    """Return how many pairs of bots would be reported to operators. If all are honest, none should be."""
    predicted = [
        PredictedGame(
            versions=game.bots,
            ratings=tuple(ratings[bot] for bot in game.bots),
            rated=tuple(ratings[bot] for bot in game.bots),
            places=game.places,
            ended=datetime.min.replace(tzinfo=UTC),
        )
        for game in games
    ]
    return len(odd_pairs(predicted, {bot: bot for bot in ratings}))


def excess_loss(ratings: Mapping[int, Rating], population: Population) -> float:
    """Return the fraction by which the log-loss of rating-based predictions exceeds the minimum."""
    loss, minimum = 0.0, 0.0
    for players in SIZES:
        for bot, rating in ratings.items():
            for other in range(bot):
                true = population.ahead(players, bot, other)
                said = expected(rating, ratings[other], (players,))
                loss -= true * math.log(said) + (1 - true) * math.log(1 - said)
                minimum -= true * math.log(true) + (1 - true) * math.log(1 - true)
    return loss / minimum - 1


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
