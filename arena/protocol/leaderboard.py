"""The leaderboard, as the API returns it and commands print it."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the leaderboard.

    Attributes:
        rank: Rank by ``score``, from 1.
        rank_best: Best rank in the bot's 95% rank interval; None without games.
        rank_worst: Worst rank in that interval; None without games.
        tied: Whether its rating can't be distinguished from that of the bot directly above or below.
        bot: The bot's name, shortened and without invisible characters.
        version: Version number, from 1.
        author: The author's name, shortened and without invisible characters.
        house: Whether it is a house bot.
        benched: Whether it is benched.
        mean: μ.
        deviation: σ.
        spread: 2σ.
        score: μ - 3σ.
        provisional: Whether the rating is still too uncertain to mean much.
        change: Change in the score over the last seven days; None if this version first played within them.
        games: Number of this version's rated games that count.
        win_share: Share of its games in which it was first or tied for first; None without games.
        mean_place: Mean place (1 is best); None without games.
        fault_share: Share of its games with a fault; None without games.
        median_millis: Median, over its games, of the median decision time per game; None without answers.
        last_played: Time of its last game, in UTC; None without games.
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
class Leaderboard:
    """A page of the leaderboard.

    Attributes:
        players: Only games with this many players (2 to 5) count; null if all games do.
        rows: In the requested order. Bots with equal scores share a rank, as in 1, 1, 3.
        next: The URL of the next page; null on the last page.
    """

    players: int | None
    rows: tuple[Row, ...]
    next: str | None
