"""The leaderboard as it is shown: one set of numbers for the pages, the API, the CSV and the badges."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil, floor
from typing import Final

from arena.rating import initial

PROVISIONAL_DEVIATION: Final = initial().deviation / 3
"""A third of a newcomer's σ. Above it a rating is provisional."""

_STEP: Final = 5
_SHORT: Final = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of the leaderboard.

    Attributes:
        rank: From 1, by ``score``.
        rank_best: With 95 % the bot's skill has a rank from here on; None without a game.
        rank_worst: To here; None without a game.
        tied: Whether the ratings can't tell it from the bot just above it or just below it.
        bot: Name, cleaned.
        version: Number, from 1.
        author: Name, cleaned.
        house: Whether it is one of the arena's own.
        benched: Whether it sits out because its games kept failing.
        mean: μ.
        deviation: σ.
        spread: 2σ.
        score: μ - 3σ.
        provisional: Whether the rating is still too uncertain to say much.
        change: Of the score over seven days; None where this version had not played before them.
        games: Rated games of this version in this list.
        win_share: Share of its games in which it was first, alone or shared; None without a game.
        mean_place: 1 is best; None without a game.
        fault_share: Share of its games with a fault; None without a game.
        median_millis: The median over its games of the median time of a decision; None without an answer.
        last_played: UTC; None without a game.
    """

    rank: int
    rank_best: int | None
    rank_worst: int | None
    tied: bool
    bot: str
    version: int
    author: str
    house: bool
    benched: bool
    mean: float
    deviation: float
    spread: float
    score: float
    provisional: bool
    change: float | None
    games: int
    win_share: float | None
    mean_place: float | None
    fault_share: float | None
    median_millis: float | None
    last_played: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What of a leaderboard somebody wants to see.

    Attributes:
        players: Which list: 2 to 5 players, or None for all games.
        house: Whether the arena's own bots are wanted too.
        search: Part of the name of a bot or of its author, in any case; empty for all.
        offset: How many lines to leave out.
        limit: How many at most.
    """

    players: int | None = None
    house: bool = True
    search: str = ""
    offset: int = 0
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A part of a leaderboard.

    Attributes:
        wanted: Which part.
        rows: Best first.
        found: How many lines there are for what is wanted, on all pages.
        bots: How many there are on the whole list.
        games: Rated games so far, of all lists.
    """

    wanted: Wanted
    rows: tuple[Row, ...]
    found: int
    bots: int
    games: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The common axis of all bars, in rating points: multiples of five around every μ ± 2σ."""

    low: int
    high: int

    def at(self, rating: float) -> float:
        """Return where a rating lies, from 0 at ``low`` to 1000 at ``high``."""
        return round(1000 * (rating - self.low) / (self.high - self.low), 1)

    @property
    def ticks(self) -> tuple[int, ...]:
        """Where the axis is labelled: every fifth rating, or every tenth on a long one."""
        step = _STEP if self.high - self.low <= _SHORT else 2 * _STEP
        return tuple(rating for rating in range(self.low, self.high + 1) if rating % step == 0)


def scale_of(rows: Sequence[Row]) -> Scale:
    """Return the axis on which the bars of these lines fit. Nothing is drawn of a bot without a game."""
    played = [row for row in rows if row.games]
    low = min((row.mean - row.spread for row in played), default=0)
    high = max((row.mean + row.spread for row in played), default=50)
    first = floor(low / _STEP) * _STEP
    return Scale(low=first, high=max(ceil(high / _STEP) * _STEP, first + _STEP))
