"""The posterior distribution of skills, from which rank intervals are computed.

A game is a Plackett-Luce ranking: of the players not yet placed, each finishes next with a probability
proportional to the exponential of its skill. Each game replaces the skills at its table with a normal
approximation of their joint posterior (Laplace's, after one Newton step). Only the diagonal of the covariance
is kept, so the cost of a game does not depend on the number of bots. Like ratings, skills are updated game by
game from the log.

This differs from TrueSkill in two ways. A skill doesn't drift, because a version never changes: deviations
fall with every game, whereas TrueSkill's stay above a limit. And the prior is about as wide as the spread of
bots' skills, whereas TrueSkill's is wider. The benchmark ``benchmarks.ladder`` measures how often intervals
contain the true rank.
"""

import math
from collections.abc import Sequence
from typing import Final

from arena.ladder.rating import BETAS, Rating

PRIOR: Final = Rating(25.0, 5.0)
"""The skill of a new bot, on the scale of the ratings."""

_MODEL_ERROR: Final = 0.5
"""The model's own error, which no number of games removes: one number can't describe a bot completely. For
example, a bot may play better with two players than with five."""

_GUMBEL: Final = math.sqrt(6) / math.pi
"""Scale of a Gumbel distribution with deviation 1. Plackett-Luce is a ranking by skill plus Gumbel noise."""


def with_model_error(skill: Rating) -> Rating:
    """Return a skill with the model's own error added, for rank intervals."""
    return Rating(skill.mean, math.hypot(skill.deviation, _MODEL_ERROR))


def update_skills(skills: Sequence[Rating], places: Sequence[int]) -> tuple[Rating, ...]:
    """Return the skills after one game. Place 1 is best; equal places are a tie.

    The same arguments give exactly the same result, bit for bit. Raises ValueError unless there are two to
    five players with one place each.
    """
    if len(skills) not in BETAS or len(skills) != len(places):
        raise ValueError(
            f"{len(skills)} skills and {len(places)} places: give one of each for 2 to 5 players"
        )
    scale = BETAS[len(skills)] * _GUMBEL
    gradient, precision = _slopes([skill.mean / scale for skill in skills], places)
    matrix = [
        [cell / scale**2 + (skill.deviation**-2 if other == seat else 0.0) for other, cell in enumerate(row)]
        for seat, (row, skill) in enumerate(zip(precision, skills, strict=True))
    ]
    covariance = _inverse(matrix)
    return tuple(
        Rating(
            skill.mean + sum(cell * slope for cell, slope in zip(row, gradient, strict=True)) / scale,
            math.sqrt(row[seat]),
        )
        for seat, (row, skill) in enumerate(zip(covariance, skills, strict=True))
    )


def _slopes(logits: Sequence[float], places: Sequence[int]) -> tuple[list[float], list[list[float]]]:
    """Return the gradient of the log-likelihood, and its negative second derivatives."""
    seats = range(len(logits))
    top = max(logits)
    weights = [math.exp(logit - top) for logit in logits]
    gradient = [0.0 for _ in seats]
    precision = [[0.0 for _ in seats] for _ in seats]
    for place in places:  # tied seats are chosen from the same remaining seats
        rest = [seat for seat in seats if places[seat] >= place]
        total = sum(weights[seat] for seat in rest)
        for seat in rest:
            share = weights[seat] / total
            gradient[seat] -= share
            row = precision[seat]
            row[seat] += share
            for other in rest:
                row[other] -= share * weights[other] / total
    return [1.0 + slope for slope in gradient], precision


def _inverse(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """Invert a symmetric positive definite matrix by Gauss-Jordan elimination. No pivoting is needed."""
    size = len(matrix)
    rows = [[*row, *(float(other == seat) for other in range(size))] for seat, row in enumerate(matrix)]
    for seat in range(size):
        pivot = rows[seat][seat]
        rows[seat] = pivoted = [cell / pivot for cell in rows[seat]]
        for other in range(size):
            if other != seat and (factor := rows[other][seat]):
                rows[other] = [cell - factor * own for cell, own in zip(rows[other], pivoted, strict=True)]
    return [row[size:] for row in rows]
