"""A leaderboard's rows, their order and their ranks."""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

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
        """Sort key: bots without a game last, then by score, smallest deviation and name.

        Bots share a rank if the first two parts of their keys are equal.
        """
        rating = self.entry.rating
        return self.entry.games == 0, -conservative(rating), rating.deviation, self.bot


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A row of the leaderboard."""

    rank: int  # from 1, by `score`
    bot: str  # name
    version: int  # number, from 1
    author: str  # name
    benched: bool  # whether it is benched
    mean: float  # TrueSkill's μ
    deviation: float  # TrueSkill's σ
    score: float  # μ - 3σ, the sort key
    games: int  # rated games of this version in this list
    wins: int  # games in which it was first or tied for first
    mean_place: float | None  # average place, 1 is best; None before the first game
    faulty: int  # games in which it had a fault
    last_played: datetime | None  # UTC; None before the first game


def standings(lines: Iterable[BoardLine]) -> tuple[Standing, ...]:
    """Return rows with their ranks, best first."""
    ordered = sorted(lines, key=lambda line: line.order)
    ranks = [line.order[:2] for line in ordered]
    return tuple(_standing(bisect_left(ranks, line.order[:2]) + 1, line) for line in ordered)


def _standing(rank: int, line: BoardLine) -> Standing:
    entry = line.entry
    return Standing(
        rank=rank,
        bot=line.bot,
        version=line.version,
        author=line.author,
        benched=line.benched,
        mean=entry.rating.mean,
        deviation=entry.rating.deviation,
        score=conservative(entry.rating),
        games=entry.games,
        wins=entry.wins,
        mean_place=entry.place_sum / entry.games if entry.games else None,
        faulty=entry.faulty,
        last_played=entry.last_played,
    )
