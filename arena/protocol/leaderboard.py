"""A line of the leaderboard, with the columns of the API, of CSV files and of the command line."""

from dataclasses import dataclass
from datetime import datetime


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
