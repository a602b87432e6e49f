"""Calibration of ratings: compares predictions with results, and fits the β that predicts best.

Predictions use the ratings before a game, which don't depend on its result, so the comparison is fair. A β is
good if it gives the actual results a high probability, that is, if the log-loss of the predictions is low.

The latest games are used to answer three questions:

- Do bots win as often as predicted? Of the pairs with a predicted probability near 60%, about 60% should end
  with the favourite ahead.
- Do predictions distinguish between bots? Predicting one half for every pair would be well calibrated, too.
  The better the predictions distinguish between bots, the lower the log-loss.
- Do ratings move as little as their deviations imply? If a rating describes a skill correctly, the change in
  its mean during later games has the deviation √(σ² - σ'² + n·τ²), where σ' is the deviation after n more
  games and τ the drift per game. In 95% of cases, the change is less than 1.96 times this deviation.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, pairwise
from statistics import fmean, stdev
from typing import Final

from arena.ladder.rating import BETAS, DRIFT, Rating, expected_with

_MIN_GAMES: Final = 100
"""Minimum number of games for fitting a β."""

_MAX_FACTOR: Final = 8.0
"""Maximum factor between the fitted β and the current one."""

MIN_PROBABILITY: Final = 1e-12
"""Lower bound for a probability, so that a single game can't dominate the fit."""

_SEARCH_STEPS: Final = 30
_INVERSE_GOLDEN_RATIO: Final = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedGame:
    """A game with the ratings before and after it; all tuples have one entry per seat."""

    versions: tuple[int, ...]  # ids
    ratings: tuple[Rating, ...]  # before the game
    rated: tuple[Rating, ...]  # after the game
    places: tuple[int, ...]
    ended: datetime  # UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class BetaFit:
    """The result of fitting β for a given number of players."""

    players: int
    games: int  # number of games with at least one pair that didn't tie
    beta: float  # current β
    loss: float  # mean log-loss of a game's pairs with the current β, in nats; a coin flip would score 0.693
    fitted: float  # the best β
    fitted_loss: float  # log-loss with the best β
    error: float  # standard error of the difference between the two losses


def fit_betas(games: Iterable[PredictedGame]) -> tuple[BetaFit, ...]:
    """Fit β for every number of players with enough games, in ascending order."""
    by_players: dict[int, list[list[tuple[Rating, Rating]]]] = {players: [] for players in BETAS}
    for game in games:
        if pairs := _pairs(game):
            by_players[len(game.places)].append(pairs)
    return tuple(_fit(players, found) for players, found in by_players.items() if len(found) >= _MIN_GAMES)


def _pairs(game: PredictedGame) -> list[tuple[Rating, Rating]]:
    """Return the ratings of the pairs that didn't tie, each with the better-placed seat first."""
    seats = sorted(zip(game.places, game.ratings, strict=True), key=lambda seat: seat[0])
    return [(first, second) for (one, first), (other, second) in combinations(seats, 2) if one != other]


def _fit(players: int, games: Sequence[Sequence[tuple[Rating, Rating]]]) -> BetaFit:
    beta = BETAS[players]
    low, high = math.log(beta / _MAX_FACTOR), math.log(beta * _MAX_FACTOR)
    for _ in range(_SEARCH_STEPS):  # golden section search
        left, right = high - _INVERSE_GOLDEN_RATIO * (high - low), low + _INVERSE_GOLDEN_RATIO * (high - low)
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
        -fmean(math.log(max(expected_with(beta, first, second), MIN_PROBABILITY)) for first, second in pairs)
        for pairs in games
    ]


EDGES: Final = (0.5, 0.52, 0.55, 0.6, 0.65, 0.7, 0.8, 1.0)
"""Limits of the groups of predictions. Lower groups are narrower: most predictions are near one half."""

SPANS: Final = 10
"""Maximum number of consecutive parts into which the games are divided."""

_MIN_PAIRS: Final = 20

SHARE: Final = 0.95
_Z: Final = 1.959963984540054
"""Half the width of the interval that contains ``SHARE`` of a normal distribution, in standard deviations."""

_MIN_SPAN_GAMES: Final = 100
"""Minimum number of games in a part."""

_MIN_MOVE_GAMES: Final = 5
"""Minimum number of games in a part for a version's rating change to count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Pairs with similar predictions.

    Attributes:
        low: Lower limit of the predicted probability that the favourite finishes ahead.
        high: Upper limit, which only the last group includes.
        pairs: Number of pairs of seats; any two seats in a game form a pair.
        predicted: Mean predicted probability.
        observed: Share of pairs in which the favourite finished ahead; ties count half.
        error: Standard error of ``observed - predicted``, clustered by game, because the pairs in a game are
            not independent. None if there are fewer than 20 pairs.
    """

    low: float
    high: float
    pairs: int
    predicted: float
    observed: float
    error: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictions:
    """The predictions for games with a given number of players.

    Attributes:
        players: Number of players.
        games: Number of games.
        groups: Non-empty groups, in ascending order.
        predicted: Mean predicted probability that the favourite in a pair finishes ahead (sharpness).
        observed: Share of favourites that finished ahead.
        log_loss: Mean of -ln of the probability predicted for the actual result, over pairs that did not tie;
            None if there is no such pair. Predicting one half for all pairs gives ln 2 = 0.693.
    """

    players: int
    games: int
    groups: tuple[Group, ...]
    predicted: float
    observed: float
    log_loss: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A part of the games, rated one after another.

    Attributes:
        start: End of the part's first game, UTC.
        end: End of its last game.
        games: Number of games.
        moves: Number of versions with enough games in this part.
        held: Share of these versions whose rating changed by no more than its deviations imply in 95% of
            cases; None if there are no such versions.
        log_loss: As in :class:`Predictions`, but over all numbers of players.
    """

    start: datetime
    end: datetime
    games: int
    moves: int
    held: float | None
    log_loss: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The calibration of the ratings.

    Attributes:
        games: Number of games.
        tables: Predictions for each number of players that occurs, in ascending order.
        spans: Parts of the games, oldest first.
    """

    games: int
    tables: tuple[Predictions, ...]
    spans: tuple[Span, ...]


def calibrate(games: Sequence[PredictedGame]) -> Calibration:
    """Compare predictions with results. ``games`` are in the order in which they were rated."""
    scored = [_score(game) for game in games]
    by_players = {
        players: [pairs for game, pairs in zip(games, scored, strict=True) if len(game.places) == players]
        for players in BETAS
    }
    count = max(1, min(SPANS, len(games) // _MIN_SPAN_GAMES))
    edges = [len(games) * index // count for index in range(count + 1)] if games else []
    return Calibration(
        games=len(games),
        tables=tuple(_predictions(players, found) for players, found in by_players.items() if found),
        spans=tuple(_span(games[low:high], scored[low:high]) for low, high in pairwise(edges)),
    )


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two seats in a game.

    ``predicted`` is the probability that the favourite finishes ahead. ``result`` is 1 if it did, 0.5 for a
    tie, and 0 otherwise.
    """

    predicted: float
    result: float


def _score(game: PredictedGame) -> list[_Pair]:
    beta = BETAS[len(game.places)]
    pairs = []
    for (rating, place), (other, behind) in combinations(zip(game.ratings, game.places, strict=True), 2):
        chance = expected_with(beta, rating, other)
        result = 0.5 if place == behind else float(place < behind)
        pairs.append(_Pair(chance, result) if chance >= 1 / 2 else _Pair(1 - chance, 1 - result))
    return pairs


def _predictions(players: int, games: Sequence[Sequence[_Pair]]) -> Predictions:
    pairs = [pair for game in games for pair in game]
    groups = (_group(low, high, games) for low, high in pairwise(EDGES))
    return Predictions(
        players=players,
        games=len(games),
        groups=tuple(group for group in groups if group is not None),
        predicted=fmean(pair.predicted for pair in pairs),
        observed=fmean(pair.result for pair in pairs),
        log_loss=_log_loss(pairs),
    )


def _group(low: float, high: float, games: Sequence[Sequence[_Pair]]) -> Group | None:
    inside = [
        found
        for game in games
        if (found := [pair for pair in game if low <= pair.predicted < high or pair.predicted == high == 1])
    ]
    pairs = [pair for game in inside for pair in game]
    if not pairs:
        return None
    squares = math.fsum(math.fsum(pair.result - pair.predicted for pair in game) ** 2 for game in inside)
    return Group(
        low=low,
        high=high,
        pairs=len(pairs),
        predicted=fmean(pair.predicted for pair in pairs),
        observed=fmean(pair.result for pair in pairs),
        error=math.sqrt(squares) / len(pairs) if len(pairs) >= _MIN_PAIRS else None,
    )


def _log_loss(pairs: Iterable[_Pair]) -> float | None:
    losses = [
        -math.log(max(pair.predicted if pair.result else 1 - pair.predicted, MIN_PROBABILITY))
        for pair in pairs
        if pair.result != 1 / 2
    ]
    return fmean(losses) if losses else None


def _span(games: Sequence[PredictedGame], scored: Sequence[Sequence[_Pair]]) -> Span:
    first: dict[int, Rating] = {}
    last: dict[int, Rating] = {}
    played: dict[int, int] = {}
    for game in games:
        for version, before, after in zip(game.versions, game.ratings, game.rated, strict=True):
            first.setdefault(version, before)
            last[version] = after
            played[version] = played.get(version, 0) + 1
    held = [
        _stayed_in_interval(first[version], last[version], count)
        for version, count in played.items()
        if count >= _MIN_MOVE_GAMES
    ]
    return Span(
        start=games[0].ended,
        end=games[-1].ended,
        games=len(games),
        moves=len(held),
        held=fmean(held) if held else None,
        log_loss=_log_loss(pair for game in scored for pair in game),
    )


def _stayed_in_interval(before: Rating, after: Rating, games: int) -> bool:
    """Return True if the mean stayed in the interval that should contain it with probability ``SHARE``."""
    variance = before.deviation**2 + games * DRIFT**2 - after.deviation**2
    return abs(after.mean - before.mean) <= _Z * math.sqrt(max(variance, 0.0))
