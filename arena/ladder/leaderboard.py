"""A leaderboard's rows, their order and their ranks."""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, fields

from arena.ladder.rating import conservative
from arena.ladder.rating_log import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardLine:
    """A bot's data for a leaderboard."""

    bot: str  # name
    version: int  # number of the active version, from 1
    author: str  # name
    house: bool  # whether it is a house bot
    benched: bool  # whether it is benched
    entry: Entry  # the active version's entry in this list

    @property
    def order(self) -> tuple[bool, float, float, str]:
        """Sort key: bots without games last, then by score, smallest deviation and name.

        Bots share a rank if the first two parts of their keys are equal.
        """
        rating = self.entry.rating
        return self.entry.games == 0, -conservative(rating), rating.deviation, self.bot


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing(BoardLine):
    """A line of a leaderboard with its rank."""

    rank: int  # from 1; equal scores share one


def standings(lines: Iterable[BoardLine]) -> tuple[Standing, ...]:
    """Return lines with their ranks, best first."""
    ordered = sorted(lines, key=lambda line: line.order)
    ranks = [line.order[:2] for line in ordered]
    return tuple(
        Standing(
            rank=bisect_left(ranks, line.order[:2]) + 1,
            **{field.name: getattr(line, field.name) for field in fields(line)},
        )
        for line in ordered
    )
