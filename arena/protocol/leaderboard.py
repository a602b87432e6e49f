"""Leaderboard rows, as in the API, CSV files and the command line."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the leaderboard.

    Attributes:
        rank: Rank by ``score``, from 1.
        rank_best: Best rank of the bot's 95 % rank interval; None without a game.
        rank_worst: Worst rank of that interval; None without a game.
        tied: Whether the ratings can't distinguish it from the bot directly above or below.
        bot: The bot's name, cleaned.
        version: Version number, from 1.
        author: The author's name, cleaned.
        house: Whether it is a house bot.
        benched: Whether it is benched.
        mean: μ.
        deviation: σ.
        spread: 2σ.
        score: μ - 3σ.
        provisional: Whether the rating is still too uncertain.
        change: Change of the score over seven days; None if this version had not played before.
        games: Rated games of this version in this list.
        win_share: Share of its games in which it was first or tied for first; None without a game.
        mean_place: Mean place, 1 is best; None without a game.
        fault_share: Share of its games with a fault; None without a game.
        median_millis: Median over its games of the game's median decision time; None without an answer.
        last_played: Time of its last game, in UTC; None without a game.
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
