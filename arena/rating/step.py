"""One rating step of a free-for-all with ties.

The only place that knows the ``trueskill`` package. The environment is passed
explicitly: the package's global one can be changed by anybody who imports it.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

with warnings.catch_warnings():
    # Its source of 2018 has an escape sequence that newer Pythons warn of when they first compile it.
    warnings.simplefilter("ignore")
    import trueskill

_MEAN = 25.0
_DEVIATION = _MEAN / 3

_DRAW_PROBABILITY = 0.01
"""How often two equal players share a place. Points tie often, but then puddings decide: players
of uniformly random cards shared a place in 0.7 % of pairs at a table of two, rising to 1.0 % at five
(0.4 % with the dummy; soy sauce makes no difference; 1,500 games each)."""

_ENVIRONMENT = trueskill.TrueSkill(
    mu=_MEAN,
    sigma=_DEVIATION,
    beta=_DEVIATION / 2,
    tau=_DEVIATION / 100,
    draw_probability=_DRAW_PROBABILITY,
)


_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Rating:
    """What is believed of a player's skill, a normal distribution.

    Attributes:
        mean: TrueSkill's μ.
        deviation: TrueSkill's σ, above 0.

    Raises:
        ValueError: Not finite, or a deviation that is not above 0.
    """

    mean: float
    deviation: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mean) and math.isfinite(self.deviation) and self.deviation > 0):
            raise ValueError(f"no rating: mean {self.mean}, deviation {self.deviation}; both finite, σ > 0")


def initial() -> Rating:
    """Return the rating of a bot that nothing is known of."""
    return Rating(_MEAN, _DEVIATION)


def next_version(old: Rating) -> Rating:
    """Return where a new version starts: the old one's mean, and at least half of the initial deviation."""
    return Rating(old.mean, max(old.deviation, _DEVIATION / 2))


def conservative(rating: Rating) -> float:
    """Return μ - 3σ, the skill that is almost certainly there: the sort key of a leaderboard."""
    return rating.mean - 3 * rating.deviation


def expected(first: Rating, second: Rating) -> float:
    """Return the probability that the first finishes a game ahead of the second, ties left out.

    A game varies around the skill by β, so this is nearer to a half than what is known of the skills.
    """
    spread = math.hypot(first.deviation, second.deviation, math.sqrt(2) * _ENVIRONMENT.beta)
    return math.erfc((second.mean - first.mean) / spread / math.sqrt(2)) / 2


def update(ratings: Sequence[Rating], places: Sequence[int]) -> tuple[Rating, ...]:
    """Return the ratings after one game.

    The same arguments give the same bits. An upset too extreme for double
    precision (means hundreds apart) is rated as the widest gap that can be
    computed, found by halving all distances to the table's average, and the changes of
    that table are taken.

    Args:
        ratings: Before the game, two or more players.
        places: Of each, 1 is best; equal places are a tie.

    Raises:
        ValueError: Fewer than two players, or not one place a player.
    """
    if len(ratings) < 2 or len(ratings) != len(places):  # noqa: PLR2004 - alone, nobody is compared
        raise ValueError(f"{len(ratings)} ratings, {len(places)} places: one of each for 2 players or more")
    average = math.fsum(rating.mean for rating in ratings) / len(ratings)
    means = [rating.mean for rating in ratings]
    while (rated := _rate(ratings, means, places)) is None:  # ends: equal means can be rated
        means = [average + (mean - average) / 2 for mean in means]
    return tuple(
        Rating(old.mean + (new.mu - mean), new.sigma) if mean != old.mean else Rating(new.mu, new.sigma)
        for old, mean, new in zip(ratings, means, rated, strict=True)
    )


def _rate(
    ratings: Sequence[Rating], means: Sequence[float], places: Sequence[int]
) -> list[trueskill.Rating] | None:
    """Rate players as if their means were ``means``; None where double precision doesn't suffice."""
    table = [(_ENVIRONMENT.create_rating(m, r.deviation),) for m, r in zip(means, ratings, strict=True)]
    try:
        rated = [rating for (rating,) in _ENVIRONMENT.rate(table, ranks=list(places))]
    except (FloatingPointError, ValueError):  # the latter from the root of a variance below 0
        return None
    # But for the drift before it, a game only adds knowledge: a larger deviation is an error of rounding.
    for old, new in zip(ratings, rated, strict=True):
        if not new.sigma <= math.hypot(old.deviation, _ENVIRONMENT.tau) * (1 + _ROUNDING):
            return None
    return rated
