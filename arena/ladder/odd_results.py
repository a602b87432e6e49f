"""Finds pairs of bots or authors whose results against each other contradict their ratings.

A bot that deliberately loses to another finishes behind it more often than predicted. Playing styles and
chance can have the same effect, so a report is a reason to review games, not proof.

For each pair, results are compared with the prediction from the latest ratings of both versions. The variance
of the sum of the differences has two parts: the luck of each game, and the error of the ratings, which is the
same in all of a pair's games. Of n pairs, one may look odd purely by chance, so a pair's probability is
multiplied by n (Bonferroni).
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final, Generic, TypeVar

from arena.ladder.calibration import PredictedGame
from arena.ladder.rating import BETAS, Rating, expected_with
from arena.ladder.skills import with_model_error

CHANCE: Final = 0.01
"""A pair is odd if its results are less probable than this on an honest ladder."""

_MIN_GAMES: Final = 20
"""Minimum number of games per pair, so that the sum is approximately normally distributed."""

_NEGLIGIBLE_DEVIATION: Final = 1e-9
"""Deviation of a skill that is treated as known: the ratings' error is added only once per pair."""

_SLOPE_STEP: Final = 0.01
"""Difference between two means, used to compute the slope of an expectation."""

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class OddPair(Generic[Name]):
    """A pair whose results differ from what the ratings predict."""

    ahead: Name  # the one that finished ahead more often than expected
    behind: Name
    games: int  # number of games in which both played
    observed: float  # share of games in which `ahead` finished ahead; ties count half
    expected: float  # the share that the ratings predict
    errors: float  # difference between the two shares, in standard errors
    chance: float  # upper bound on the probability that an honest ladder has a pair as odd as this


@dataclass(slots=True)
class _Sums:
    games: int = 0
    observed: float = 0.0
    expected: float = 0.0
    luck: float = 0.0
    slopes: defaultdict[tuple[int, int], float] = field(default_factory=lambda: defaultdict(float))


def odd_pairs(games: Iterable[PredictedGame], names: Mapping[int, Name]) -> tuple[OddPair[Name], ...]:
    """Return the odd pairs, the oddest first.

    ``names`` maps a version to the bot or author whose results are added up. Versions without a name, and
    pairs of versions with the same name, are left out.
    """
    played = list(games)
    latest = {
        version: with_model_error(rating)
        for game in played
        for version, rating in zip(game.versions, game.rated, strict=True)
    }
    pairs: dict[frozenset[Name], tuple[Name, Name, _Sums]] = {}
    for game in played:
        beta = BETAS[len(game.places)]
        seats = [
            (names[version], (version, latest[version]), place)
            for version, place in zip(game.versions, game.places, strict=True)
            if version in names
        ]
        for (name, one, place), (other, two, behind) in combinations(seats, 2):
            if name != other:
                pair = pairs.setdefault(frozenset((name, other)), (name, other, _Sums()))
                result = 0.5 if place == behind else float(place < behind)
                if name == pair[0]:
                    _add_pair(pair[2], beta, one, two, result)
                else:
                    _add_pair(pair[2], beta, two, one, 1 - result)
    enough = [pair for pair in pairs.values() if pair[2].games >= _MIN_GAMES]
    found = [_odd_pair(first, second, sums, latest, len(enough)) for first, second, sums in enough]
    return tuple(sorted((pair for pair in found if pair.chance < CHANCE), key=lambda pair: pair.chance))


def _add_pair(
    sums: _Sums, beta: float, one: tuple[int, Rating], two: tuple[int, Rating], result: float
) -> None:
    (version, rating), (other, theirs) = one, two
    expected = expected_with(
        beta, Rating(rating.mean, _NEGLIGIBLE_DEVIATION), Rating(theirs.mean, _NEGLIGIBLE_DEVIATION)
    )
    higher = expected_with(
        beta,
        Rating(rating.mean + _SLOPE_STEP, _NEGLIGIBLE_DEVIATION),
        Rating(theirs.mean, _NEGLIGIBLE_DEVIATION),
    )
    sums.games += 1
    sums.observed += result
    sums.expected += expected
    sums.luck += expected * (1 - expected)
    sums.slopes[version, other] += (higher - expected) / _SLOPE_STEP


def _odd_pair(
    first: Name, second: Name, sums: _Sums, ratings: Mapping[int, Rating], pairs: int
) -> OddPair[Name]:
    error = math.fsum(
        slope**2 * (ratings[one].deviation ** 2 + ratings[two].deviation ** 2)
        for (one, two), slope in sums.slopes.items()
    )
    errors = (sums.observed - sums.expected) / math.sqrt(sums.luck + error)
    observed, expected = sums.observed / sums.games, sums.expected / sums.games
    if errors < 0:
        first, second, observed, expected = second, first, 1 - observed, 1 - expected
    return OddPair(
        ahead=first,
        behind=second,
        games=sums.games,
        observed=observed,
        expected=expected,
        errors=abs(errors),
        chance=min(1.0, pairs * math.erfc(abs(errors) / math.sqrt(2))),
    )
