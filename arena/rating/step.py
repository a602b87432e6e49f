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


def update(ratings: Sequence[Rating], places: Sequence[int]) -> tuple[Rating, ...]:
    """Return the ratings after one game.

    The same arguments give the same bits. An upset too extreme for double
    precision (a mean difference of hundreds) is rated as the widest gap that
    can be computed, found by halving all distances to the table's average:
    the change has the right direction and less than its full size.

    Args:
        ratings: Before the game, two or more players.
        places: Of each, 1 is best; equal places are a tie.

    Raises:
        ValueError: Fewer than two players, or not one place a player.
    """
    if len(ratings) < 2 or len(ratings) != len(places):  # noqa: PLR2004 - alone, nobody is compared
        raise ValueError(
            f"{len(ratings)} ratings and {len(places)} places: give one of each a player, 2 or more"
        )
    average = math.fsum(rating.mean for rating in ratings) / len(ratings)
    narrowing = 1.0
    while True:
        try:
            # Without narrowing the means are untouched, to the bit.
            means = [
                r.mean if narrowing == 1.0 else average + (r.mean - average) * narrowing for r in ratings
            ]
            return _rate(ratings, means, places)
        except FloatingPointError:
            narrowing /= 2


def _rate(ratings: Sequence[Rating], means: Sequence[float], places: Sequence[int]) -> tuple[Rating, ...]:
    """Rate players as if their means were ``means``, and carry the changes over to their own."""
    table = [(_ENVIRONMENT.create_rating(m, r.deviation),) for m, r in zip(means, ratings, strict=True)]
    rated = _ENVIRONMENT.rate(table, ranks=list(places))
    return tuple(
        Rating(new.mu if mean == old.mean else old.mean + (new.mu - mean), new.sigma)
        for old, mean, (new,) in zip(ratings, means, rated, strict=True)
    )
