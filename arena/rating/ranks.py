"""Between which ranks a player probably stands: sampled from the ratings, which are normal distributions.

    field = Field({1: Rating(30.0, 1.0), 2: Rating(29.0, 1.0), 3: Rating(20.0, 1.0)})
    field.interval(1)    # (1, 2)

A rank is a count: one more than the players whose skill is higher. A player's own skill is drawn ``DRAWS``
times. Each draw is held against a field, in which everybody else's skill is drawn as well, and gives a rank.
Of all these ranks the lowest and the highest fortieth are left out; what is left is the interval, which holds
``SHARE`` of them.

The draws are spread evenly (Latin hypercube sampling): a player's own ones are the middles of ``DRAWS``
equally likely slices of the distribution. Those for the fields are the same for as many slices as there are
fields, in an order that follows from the player's id alone. So the same ratings give the same intervals, on
every machine; there is no other seed. Among many players chance in the fields evens out, so fewer fields
will do: never more than ``_MOST`` draws in all of them, but at least ``_FEWEST`` fields.
"""

import math
import random
from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping
from functools import cache
from statistics import NormalDist

from arena.rating.step import Rating

SHARE = 0.95
"""The share of a player's ranks that lies in the interval."""

DRAWS = 200
_LEFT_OUT = round(DRAWS * (1 - SHARE) / 2)
_MOST = 200_000
_FEWEST = 20
_SIZES = (200, 100, 50, 40, 25, 20)
"""Numbers of fields. Each divides ``DRAWS``, so that all fields are used equally often."""


class Field:
    """Players whose ratings change one at a time, ready to be asked for intervals.

    What it says follows from the ratings that are in it, and not from the way they came there.

    Args:
        ratings: By the players' ids.
    """

    def __init__(self, ratings: Mapping[int, Rating]) -> None:
        self._ratings: dict[int, Rating] = dict(ratings)
        self._draw_all()

    def __len__(self) -> int:
        """Return how many players there are."""
        return len(self._ratings)

    def put(self, player: int, rating: Rating) -> None:
        """Let a player have this rating, whether there was another one or none."""
        if self._ratings.get(player) == rating:
            return
        self._take_out(player)
        self._ratings[player] = rating
        if _fields(len(self._ratings)) != len(self._worlds):
            self._draw_all()
            return
        for world, skill in zip(self._worlds, self._skills(player), strict=True):
            insort(world, skill)

    def drop(self, player: int) -> None:
        """Leave a player out, if it is there."""
        self._take_out(player)
        if _fields(len(self._ratings)) != len(self._worlds):
            self._draw_all()

    def interval(self, player: int) -> tuple[int, int]:
        """Return the best and the worst rank between which a player stands with probability ``SHARE``.

        Raises:
            KeyError: There is no such player.
        """
        rating = self._ratings[player]
        players, size = len(self._ratings), len(self._worlds)
        own = self._skills(player)
        ranks = []
        for draw, slice_ in enumerate(_slices(DRAWS)):
            skill = rating.mean + rating.deviation * slice_
            world = self._worlds[draw % size]
            better = players - bisect_right(world, skill)
            ranks.append(1 + better - (own[draw % size] > skill))
        ranks.sort()
        return ranks[_LEFT_OUT], ranks[-1 - _LEFT_OUT]

    def _take_out(self, player: int) -> None:
        if player not in self._ratings:
            return
        for world, skill in zip(self._worlds, self._skills(player), strict=True):
            del world[bisect_left(world, skill)]
        del self._ratings[player]

    def _draw_all(self) -> None:
        self._worlds = [array("d") for _ in range(_fields(len(self._ratings)))]
        drawn = [self._skills(player) for player in self._ratings]
        for index in range(len(self._worlds)):
            self._worlds[index] = array("d", sorted(skills[index] for skills in drawn))

    def _skills(self, player: int) -> list[float]:
        """Return a player's skill in each field."""
        rating = self._ratings[player]
        return [rating.mean + rating.deviation * slice_ for slice_ in _order(player, len(self._worlds))]


def between(better: Rating, worse: Rating) -> float:
    """Return the probability that the skill of the first is above that of the second."""
    return NormalDist().cdf((better.mean - worse.mean) / math.hypot(better.deviation, worse.deviation))


def _fields(players: int) -> int:
    """Return how many fields are drawn for so many players."""
    return next((size for size in _SIZES if size * players <= _MOST), _FEWEST)


@cache
def _slices(count: int) -> tuple[float, ...]:
    """Return the middles of so many equally likely slices of the standard normal distribution."""
    return tuple(NormalDist().inv_cdf((index + 0.5) / count) for index in range(count))


def _order(player: int, count: int) -> list[float]:
    """Return the slices in a player's own order, which depends on nothing but ``random()`` and the id."""
    dice = random.Random(player)  # noqa: S311 - drawn again, it has to be the same
    return sorted(_slices(count), key=lambda _: dice.random())
