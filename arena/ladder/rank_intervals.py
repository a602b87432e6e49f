"""Intervals of players' probable ranks, sampled from their skills, which are normal distributions.

    field = Field({1: Rating(30.0, 1.0), 2: Rating(29.0, 1.0), 3: Rating(20.0, 1.0)})
    field.interval(1)    # (1, 2)

A rank is one more than the number of players with a higher skill. A player's skill is drawn ``DRAWS`` times.
Each draw is ranked in a field, which contains one drawn skill of every player. The interval leaves out the
lowest 2.5% and the highest 2.5% of these ranks, so it contains ``SHARE`` of them.

Draws are spread evenly (Latin hypercube sampling): a player's own draws are the midpoints of ``DRAWS``
equally likely slices of the distribution. For the fields, each distribution is divided into as many slices as
there are fields. The slices' order depends only on the player's id, so the same ratings give the same
intervals on every machine. With many players, chance evens out and fewer fields suffice. All fields together
have at most ``_MAX_DRAWS`` draws, but there are at least ``_MIN_FIELDS`` fields.
"""

import math
import random
from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping
from functools import cache
from statistics import NormalDist

from arena.ladder.rating import Rating

SHARE = 0.95
"""Share of a player's ranks in the interval."""

DRAWS = 200
_TAIL_DRAWS = round(DRAWS * (1 - SHARE) / 2)
_MAX_DRAWS = 200_000
_MIN_FIELDS = 20
_FIELD_COUNTS = (200, 100, 50, 40, 25, 20)
"""Possible numbers of fields. Each divides ``DRAWS``, so all fields are used equally often."""


class Field:
    """Players' ratings, which change one at a time; intervals don't depend on the order of changes."""

    def __init__(self, ratings: Mapping[int, Rating]) -> None:
        self._ratings: dict[int, Rating] = dict(ratings)
        self._draw_all()

    def put(self, player: int, rating: Rating) -> None:
        """Set a player's rating, adding the player if necessary."""
        if self._ratings.get(player) == rating:
            return
        self._remove(player)
        self._ratings[player] = rating
        if _field_count(len(self._ratings)) != len(self._sampled_fields):
            self._draw_all()
            return
        for field, skill in zip(self._sampled_fields, self._skills(player), strict=True):
            insort(field, skill)

    def drop(self, player: int) -> None:
        """Remove a player, if present."""
        self._remove(player)
        if _field_count(len(self._ratings)) != len(self._sampled_fields):
            self._draw_all()

    def interval(self, player: int) -> tuple[int, int]:
        """Return the best and the worst rank in a player's interval.

        The interval contains the player's rank with probability ``SHARE``.
        Raises KeyError for an unknown player.
        """
        rating = self._ratings[player]
        players, size = len(self._ratings), len(self._sampled_fields)
        own = self._skills(player)
        ranks = []
        for draw, slice_ in enumerate(_slices(DRAWS)):
            skill = rating.mean + rating.deviation * slice_
            field = self._sampled_fields[draw % size]
            better = players - bisect_right(field, skill)
            ranks.append(1 + better - (own[draw % size] > skill))
        ranks.sort()
        return ranks[_TAIL_DRAWS], ranks[-1 - _TAIL_DRAWS]

    def _remove(self, player: int) -> None:
        if player not in self._ratings:
            return
        for field, skill in zip(self._sampled_fields, self._skills(player), strict=True):
            del field[bisect_left(field, skill)]
        del self._ratings[player]

    def _draw_all(self) -> None:
        self._sampled_fields = [array("d") for _ in range(_field_count(len(self._ratings)))]
        drawn = [self._skills(player) for player in self._ratings]
        for index in range(len(self._sampled_fields)):
            self._sampled_fields[index] = array("d", sorted(skills[index] for skills in drawn))

    def _skills(self, player: int) -> list[float]:
        """Return a player's skill in each field."""
        rating = self._ratings[player]
        return [
            rating.mean + rating.deviation * slice_
            for slice_ in _shuffled_slices(player, len(self._sampled_fields))
        ]


def between(better: Rating, worse: Rating) -> float:
    """Return the probability that the first player's skill is above the second's."""
    return NormalDist().cdf((better.mean - worse.mean) / math.hypot(better.deviation, worse.deviation))


def _field_count(players: int) -> int:
    return next((size for size in _FIELD_COUNTS if size * players <= _MAX_DRAWS), _MIN_FIELDS)


@cache
def _slices(count: int) -> tuple[float, ...]:
    """Return the midpoints of ``count`` equally likely slices of the standard normal distribution."""
    return tuple(NormalDist().inv_cdf((index + 0.5) / count) for index in range(count))


def _shuffled_slices(player: int, count: int) -> list[float]:
    """Return the slices in a player's own order, which depends only on ``random()`` and the id."""
    dice = random.Random(player)  # noqa: S311 - must be reproducible
    return sorted(_slices(count), key=lambda _: dice.random())
