"""The leaderboard as it is shown: one set of numbers for the page and for the API."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil, floor
from typing import Final

from arena.rating import initial
from arena.store.reads import Standing
from web.text import clean_name

PROVISIONAL_DEVIATION: Final = initial().deviation / 3
"""A third of a newcomer's σ. Above it a rating is provisional."""

_SIGMAS: Final = 2
_STEP: Final = 5
_SHORT: Final = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of the leaderboard.

    Attributes:
        rank: From 1, by ``score``.
        bot: Name, cleaned.
        version: Number, from 1.
        author: Name, cleaned.
        benched: Whether it sits out because its games kept failing.
        mean: μ.
        deviation: σ.
        spread: 2σ.
        score: μ - 3σ.
        provisional: Whether the rating is still too uncertain to say much.
        games: Rated games of this version in this list.
        win_share: Share of its games in which it was first, alone or shared; None without a game.
        mean_place: 1 is best; None without a game.
        fault_share: Share of its games with a fault; None without a game.
        last_played: UTC; None without a game.
    """

    rank: int
    bot: str
    version: int
    author: str
    benched: bool
    mean: float
    deviation: float
    spread: float
    score: float
    provisional: bool
    games: int
    win_share: float | None
    mean_place: float | None
    fault_share: float | None
    last_played: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A leaderboard.

    Attributes:
        players: Which list: 2 to 5 players, or None for all games.
        rows: Best first.
    """

    players: int | None
    rows: tuple[Row, ...]


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


def board_of(standings: Sequence[Standing], players: int | None) -> Board:
    """Return the leaderboard for these standings, in their order."""
    return Board(players=players, rows=tuple(_row(standing) for standing in standings))


def scale_of(board: Board) -> Scale:
    """Return the axis on which all bars of a board fit."""
    low = min((row.mean - row.spread for row in board.rows), default=0)
    high = max((row.mean + row.spread for row in board.rows), default=50)
    first = floor(low / _STEP) * _STEP
    return Scale(low=first, high=max(ceil(high / _STEP) * _STEP, first + _STEP))


def _row(standing: Standing) -> Row:
    games = standing.games
    return Row(
        rank=standing.rank,
        bot=clean_name(standing.bot),
        version=standing.version,
        author=clean_name(standing.author),
        benched=standing.benched,
        mean=standing.mean,
        deviation=standing.deviation,
        spread=_SIGMAS * standing.deviation,
        score=standing.score,
        provisional=standing.deviation > PROVISIONAL_DEVIATION,
        games=games,
        win_share=standing.wins / games if games else None,
        mean_place=standing.mean_place,
        fault_share=standing.faulty / games if games else None,
        last_played=standing.last_played,
    )
