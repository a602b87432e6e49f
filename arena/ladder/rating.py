"""TrueSkill ratings for free-for-all games with ties, and related statistics.

Only this module uses the ``trueskill`` package, and only with explicit environments, because any importer
could change the package's global environment.
"""

import math
import warnings
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import NamedTuple

with warnings.catch_warnings():
    # The package, from 2018, contains an escape sequence that newer versions of Python warn about.
    warnings.simplefilter("ignore")
    import trueskill

_MEAN = 25.0
_DEVIATION = _MEAN / 3

PROVISIONAL_DEVIATION = _DEVIATION / 3
"""A third of a new bot's σ. A rating with a larger deviation is provisional."""

DRIFT = _DEVIATION / 100
"""TrueSkill's τ: the deviation by which a skill is assumed to change before each game."""

_DRAW_PROBABILITY = 0.01
"""Probability that two equal players share a place. Players often have equal points, but puddings break ties:
uniformly random players shared a place in 0.7% of pairs at tables of two, rising to 1.0% at five (0.4% with
the dummy; soy sauce makes no difference; 1,500 games each)."""

_BASE_BETA = 2.5 * _DEVIATION / 2

BETAS = {2: _BASE_BETA, 3: _BASE_BETA * 1.6, 4: _BASE_BETA * 2, 5: _BASE_BETA * 2.25}
"""TrueSkill's β, the variation of a player's performance around the skill, by number of players. Games of
Sushi Go! are short: with TrueSkill's default β, half the initial deviation, ratings mostly reflected the
latest games."""

_ENVIRONMENTS = {
    players: trueskill.TrueSkill(
        mu=_MEAN,
        sigma=_DEVIATION,
        beta=beta,
        tau=DRIFT,
        draw_probability=_DRAW_PROBABILITY,
    )
    for players, beta in BETAS.items()
}


_ROUNDING_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Rating:
    """A player's skill as a normal distribution: TrueSkill's μ and σ.

    Raises ValueError if a value is not finite, or the deviation is not positive.
    """

    mean: float
    deviation: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mean) and math.isfinite(self.deviation) and self.deviation > 0):
            raise ValueError(f"mean {self.mean} and deviation {self.deviation} must be finite, with σ > 0")

    @property
    def score(self) -> float:
        """μ - 3σ, a lower bound on the skill, by which leaderboards are sorted."""
        return self.mean - 3 * self.deviation

    @property
    def spread(self) -> float:
        """2σ: the skill is within this distance of the mean with a probability of 95%."""
        return 2 * self.deviation

    @property
    def provisional(self) -> bool:
        """True if the rating is still too uncertain to mean much."""
        return self.deviation > PROVISIONAL_DEVIATION


def initial() -> Rating:
    """Return the rating of a new bot."""
    return Rating(_MEAN, _DEVIATION)


_VERSION_DEVIATION = 1.0
"""Assumed deviation of the difference in skill between consecutive versions of a bot. A version that plays
like the old one keeps approximately the same rank."""


def next_version(old: Rating, new_bot: Rating, doubt: float = 0.0) -> Rating:
    """Return a new version's rating: the old mean with a larger deviation.

    ``doubt`` increases the deviation further, but not above that of a new bot.
    """
    deviation = math.hypot(old.deviation, _VERSION_DEVIATION, doubt)
    return Rating(old.mean, min(deviation, max(old.deviation, new_bot.deviation)))


def expected(first: Rating, second: Rating, tables: Sequence[int] = tuple(BETAS)) -> float:
    """Return the probability that the first player finishes a game ahead of the second, ignoring ties.

    It is nearer to one half than the probability that the first has the higher skill, because performance
    varies by β. ``tables`` contains the possible numbers of players, all equally likely.
    """
    return math.fsum(expected_with(BETAS[players], first, second) for players in tables) / len(tables)


def expected_with(beta: float, first: Rating, second: Rating) -> float:
    """Return the probability for one β. See :func:`expected`."""
    spread = math.hypot(first.deviation, second.deviation, math.sqrt(2) * beta)
    return math.erfc((second.mean - first.mean) / spread / math.sqrt(2)) / 2


def update(ratings: Sequence[Rating], places: Sequence[int]) -> tuple[Rating, ...]:
    """Return the ratings after one game. Place 1 is best; equal places are a tie.

    The same arguments give exactly the same result, bit for bit. If an upset is too extreme for double
    precision (means hundreds apart), the means' distances to the table's average are halved until the update
    can be computed, and its changes are applied to the original means. Raises ValueError unless there are
    two to five players with one place each.
    """
    if len(ratings) not in _ENVIRONMENTS or len(ratings) != len(places):
        raise ValueError(
            f"{len(ratings)} ratings and {len(places)} places: give one of each for 2 to 5 players"
        )
    average = math.fsum(rating.mean for rating in ratings) / len(ratings)
    means = [rating.mean for rating in ratings]
    while (rated := _rate(ratings, means, places)) is None:  # ends, because equal means can be rated
        means = [average + (mean - average) / 2 for mean in means]
    return tuple(
        Rating(old.mean + (new.mu - mean), new.sigma) if mean != old.mean else Rating(new.mu, new.sigma)
        for old, mean, new in zip(ratings, means, rated, strict=True)
    )


def _rate(
    ratings: Sequence[Rating], means: Sequence[float], places: Sequence[int]
) -> list[trueskill.Rating] | None:
    """Rate players as if they had these means; return None if double precision doesn't suffice."""
    environment = _ENVIRONMENTS[len(ratings)]
    table = [(environment.create_rating(m, r.deviation),) for m, r in zip(means, ratings, strict=True)]
    try:
        rated = [rating for (rating,) in environment.rate(table, ranks=list(places))]
    except (FloatingPointError, ValueError):  # ValueError: the root of a negative variance
        return None
    # A game never increases a deviation by more than the drift: a larger increase is a rounding error.
    for old, new in zip(ratings, rated, strict=True):
        if not new.sigma <= math.hypot(old.deviation, environment.tau) * (1 + _ROUNDING_TOLERANCE):
            return None
    return rated


DAYS = 7
"""Days over which changes are shown: today and the six days before."""


class Closing(NamedTuple):
    """A rating at the end of a day, or the current one if the day isn't over. ``day`` is a date's ordinal."""

    day: int
    mean: float
    deviation: float


Closings = tuple[Closing, ...]
"""Closings for days with games, in ascending order: the last ``DAYS`` days and the latest day before them."""


def close(closings: Closings, day: int, rating: Rating) -> Closings:
    """Set the rating after a game as the closing of its day, or of the last day if that is later.

    Of the closings that are at least ``DAYS`` days old, only the latest is kept.
    """
    if closings and closings[-1].day >= day:
        return (*closings[:-1], Closing(closings[-1].day, rating.mean, rating.deviation))
    old = [each.day <= day - DAYS for each in closings]
    kept = closings[max(0, sum(old) - 1) :]
    return (*kept, Closing(day, rating.mean, rating.deviation))


def rating_on(closings: Closings, day: int) -> Rating | None:
    """Return the rating at the end of a day, or None before the first game.

    The day must not be more than ``DAYS`` days before the last game.
    """
    for each in reversed(closings):
        if each.day <= day:
            return Rating(each.mean, each.deviation)
    return None


Times = tuple[tuple[int, int], ...]
"""Times in microseconds, in ascending order, each with its number of games."""

_MICROS = 1000
_SIGNIFICANT_DIGITS = 2


def game_time(millis: Iterable[float | None]) -> int | None:
    """Return the low median of a seat's decision times in microseconds, or None if the bot never answered.

    ``millis`` contains None for decisions without an answer in time, which are ignored.
    """
    answered = [each for each in millis if each is not None]
    return round(median_low(answered) * _MICROS) if answered else None


def add(times: Times, micros: int) -> Times:
    """Return the times with another one added, rounded half up to two significant digits."""
    unit: int = 10 ** max(0, len(str(micros)) - _SIGNIFICANT_DIGITS)
    rounded = (micros + unit // 2) // unit * unit
    at = bisect_left(times, (rounded, 0))
    if at < len(times) and times[at][0] == rounded:
        return (*times[:at], (rounded, times[at][1] + 1), *times[at + 1 :])
    return (*times[:at], (rounded, 1), *times[at:])


def median(times: Times) -> int | None:
    """Return the low median in microseconds, or None if there are no times."""
    before = (sum(games for _, games in times) + 1) // 2
    for micros, games in times:
        before -= games
        if before <= 0:
            return micros
    return None
