"""What pages and commands read: frozen, and nothing of the database in it."""

from dataclasses import dataclass
from datetime import datetime

from arena.controls import HostReport, unaccepted
from arena.highlights import HighlightKind
from arena.rating import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A line of the leaderboard.

    Attributes:
        rank: From 1, by ``score``.
        bot: Name.
        version: Number, from 1.
        author: Name.
        benched: Whether it sits out because its games kept failing.
        mean: TrueSkill's μ.
        deviation: TrueSkill's σ.
        score: μ - 3σ, the sort key.
        games: Rated games of this version in this list.
        wins: Games in which it was first, alone or shared.
        mean_place: Average place, 1 is best; None without a game.
        faulty: Games in which it had a fault.
        last_played: UTC; None without a game.
    """

    rank: int
    bot: str
    version: int
    author: str
    benched: bool
    mean: float
    deviation: float
    score: float
    games: int
    wins: int
    mean_place: float | None
    faulty: int
    last_played: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardLine:
    """A bot as a leaderboard knows it.

    Attributes:
        bot: Name.
        version: Number of the one that plays, from 1.
        author: Name.
        house: Whether it is one of the arena's own.
        benched: Whether it sits out because its games kept failing.
        entry: What this list says of the version that plays.
    """

    bot: str
    version: int
    author: str
    house: bool
    benched: bool
    entry: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardChanges:
    """What is new on a leaderboard.

    Attributes:
        revision: What is seen with this.
        games: Rated games, of all lists.
        lines: By the bots' ids; None of one that is not on the leaderboard any more.
    """

    revision: int
    games: int
    lines: dict[int, BoardLine | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingChange:
    """What one game did to one rating.

    Attributes:
        mean_before: μ before it.
        deviation_before: σ before it.
        mean_after: μ after it.
        deviation_after: σ after it.
    """

    mean_before: float
    deviation_before: float
    mean_after: float
    deviation_after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSeat:
    """One seat of a game.

    Attributes:
        seat: From 0.
        bot: Name.
        version: Number, from 1.
        author: Name.
        points: Final points.
        puddings: Puddings at the end.
        place: From 1; a seat that was taken over ranks below the rest.
        faults: How many.
        taken_over: Whether the stand-in played it to the end.
        overall: The change of the overall rating; None in a game that doesn't count.
        by_count: The change of the rating for this number of players; None as above.
        image: Id of the image, or the folder of the bot.
        runtime: What isolated it.
        limits: What held it, in words.
        trouble: What went wrong with its sandbox, or None.
    """

    seat: int
    bot: str
    version: int
    author: str
    points: int
    puddings: int
    place: int
    faults: int
    taken_over: bool
    overall: RatingChange | None
    by_count: RatingChange | None
    image: str
    runtime: str
    limits: tuple[str, ...]
    trouble: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatResult:
    """How a seat of a game did.

    Attributes:
        bot: Name.
        version: Number, from 1.
        points: At the end.
        place: From 1; a seat that was taken over ranks below the rest.
    """

    bot: str
    version: int
    points: int
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSummary:
    """A line of the list of games.

    Attributes:
        game: Id.
        number: Its place in the order of rating, from 1.
        players: How many.
        ended: UTC.
        seats: In seat order.
    """

    game: str
    number: int
    players: int
    ended: datetime
    seats: tuple[SeatResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GamePage:
    """Everything public about one game.

    Attributes:
        game: Id.
        match: Id of its match.
        number: Its place in the order of rating, from 1.
        players: How many.
        variants: Names of the variants in play.
        ended: UTC.
        counts: Whether it is rated; not, where a bot sits in it that was disqualified.
        seats: In seat order.
        replay: The public replay (``sushigo-replay/1``), as JSON text; empty where it is no longer kept.
    """

    game: str
    match: str
    number: int
    players: int
    variants: tuple[str, ...]
    ended: datetime
    counts: bool
    seats: tuple[GameSeat, ...]
    replay: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RemarkableGame:
    """A game that was remarkable.

    Attributes:
        kind: What kind of thing was remarkable.
        seat: Whose it is.
        other: The seat that was beaten; None where it is about points.
        value: The points; of an upset how probable it was before the game.
        game: The game.
    """

    kind: HighlightKind
    seat: int
    other: int | None
    value: float
    game: GameSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningMatch:
    """A rated match that is being played.

    Attributes:
        match: Its id.
        players: How many.
        deals: So many games it has.
        started: UTC.
        seats: In seat order: (bot, version).
    """

    match: str
    players: int
    deals: int
    started: datetime
    seats: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """What the arena is doing.

    Attributes:
        running: Rated matches that are being played, the one that began first first.
        matches_running: All that are being played, rated or not.
        matches_waiting: All that wait.
        games: Rated games so far.
        games_last_hour: Of these, in the hour before; right but for a match or two at its edge.
        games_last_day: In the day before, as above.
        remarkable: Of the last two days on which there was anything, the best of each kind first.
    """

    running: tuple[RunningMatch, ...]
    matches_running: int
    matches_waiting: int
    games: int
    games_last_hour: int
    games_last_day: int
    remarkable: tuple[RemarkableGame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """How much there is."""

    bots: int
    games: int
    matches_waiting: int
    matches_running: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HostStatus:
    """What a host can hold, and what its operator makes of that.

    Attributes:
        report: The newest one.
        accepted: Names of controls whose absence was accepted when it was made.
    """

    report: HostReport
    accepted: frozenset[str]

    @property
    def unaccepted(self) -> tuple[str, ...]:
        """Names of the controls for which strangers' bots are refused; none where they may play."""
        return unaccepted(self.report, self.accepted)
