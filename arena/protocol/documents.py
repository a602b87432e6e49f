"""Documents that the site's API returns, that the client reads, and that commands print as JSON.

Their docstrings are the API's description: see :mod:`web.http.api`.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from arena.languages.registry import UploadKind
from arena.protocol.faults import Fault
from arena.protocol.states import BotState, MatchState, Role, Scope
from arena.protocol.submissions import Cause, Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token.

    Attributes:
        id: The token's id.
        name: The owner's name for it.
        prefix: The first characters of its secret.
        scopes: Its permissions.
        created: Creation time.
        expires: Expiry time.
        last_used: Approximate time of its last use; null if it was never used.
    """

    id: int
    name: str
    prefix: str
    scopes: tuple[str, ...]
    created: datetime
    expires: datetime
    last_used: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The account that sent the request.

    Attributes:
        name: The account's name.
        role: The account's role.
        created: Creation time.
        scopes: Scopes of the request.
        token: The token used; null for a session.
    """

    name: str
    role: Role
    created: datetime
    scopes: tuple[Scope, ...]
    token: Token | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """A bot.

    Attributes:
        name: The bot's name.
        author: Its author's name.
        house: Whether it is a house bot.
        state: The bot's state.
        reason: Why it is not playing; null if no reason was given.
        since: Time of the last change of state or version; null if neither has ever changed.
        version: Number of the version that plays, or would play if the bot were active.
        newest: Number of the newest version.
        open_to_people: Whether its author allows anyone to play against it. House bots are always open.
    """

    name: str
    author: str
    house: bool
    state: BotState
    reason: str | None
    since: datetime | None
    version: int
    newest: int
    open_to_people: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BotList:
    """A page of bots.

    Attributes:
        bots: Sorted by name.
        next: The URL of the next page; null on the last page.
    """

    bots: tuple[Bot, ...]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedResult:
    """A version's results in rated games.

    Attributes:
        players: Number of players, or 0 for all games.
        games: Number of games.
        wins: Games in which it was first or tied for first.
        mean_place: Mean place (1 is best); null if no games were played.
        faulty: Games in which it had a fault.
        mean: μ.
        deviation: σ.
        score: μ - 3σ.
    """

    players: int
    games: int
    wins: int
    mean_place: float | None
    faulty: int
    mean: float
    deviation: float
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A version of a bot.

    Attributes:
        number: Version number, from 1.
        playing: Whether it is the version that plays, or would play if the bot were active.
        created: When it joined the ladder.
        image: Id of its image, or the name of its folder.
        sha256: SHA-256 hash of its uploaded file; null if there was none.
        size: Size of its uploaded file in bytes; null if there was none.
        note: The author's note; null unless you are the bot's owner or an operator.
        available: Whether its image is still stored. A version without its image can't play again.
        results: Results in all games first, then by number of players.
    """

    number: int
    playing: bool
    created: datetime
    image: str
    sha256: str | None
    size: int | None
    note: str | None
    available: bool
    results: tuple[RatedResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionList:
    """A page of versions.

    Attributes:
        versions: Newest first.
        next: The URL of the next page; null on the last page.
    """

    versions: tuple[Version, ...]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatResult:
    """One seat's result in a game.

    Attributes:
        bot: The bot's name.
        version: Version number, from 1.
        points: Final points.
        place: Place, from 1. Seats that the stand-in took over come last.
    """

    bot: str
    version: int
    points: int
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GameLine:
    """An entry in the list of games.

    Attributes:
        game: Id of the game.
        number: The game's position in the order of rating, from 1.
        players: Number of players.
        ended: End of the game.
        seats: In seat order.
    """

    game: str
    number: int
    players: int
    ended: datetime
    seats: tuple[SeatResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GameList:
    """A page of games.

    Attributes:
        games: In the requested order, by default newest first.
        next: The URL of the next page; null on the last page.
    """

    games: tuple[GameLine, ...]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatDecision:
    """A decision with a note, a fault, an error or a long wait for the host.

    Attributes:
        round: Round number, from 1.
        turn: Turn number in its round, from 1.
        note: The bot's note; None if it left none.
        fault: The fault that made the stand-in play instead of the bot; None if there was none.
        trouble: Description of the error; None if there was none.
        millis: Time from request to answer; None if no answer came in time.
        waited_millis: Time that ``millis`` excludes because the host kept the bot waiting or the referee was
            late; None if zero.
    """

    round: int
    turn: int
    note: str | None
    fault: Fault | None
    trouble: str | None
    millis: float | None
    waited_millis: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedSeat:
    """The log for one seat.

    Attributes:
        seat: Seat number, from 0.
        bot: The bot's name.
        version: Version number; null for a submission that was not yet a version.
        exit_code: Exit code of the bot's program; null if it ran until the end of the match.
        out_of_memory: Whether the kernel killed it for using too much memory.
        trouble: Description of a sandbox error; null if there was none.
        stderr: Head and tail of its stderr over the whole match.
        decisions: Decisions with a note, a fault, an error or a long wait for the host.
    """

    seat: int
    bot: str
    version: int | None
    exit_code: int | None
    out_of_memory: bool
    trouble: str | None
    stderr: str
    decisions: tuple[SeatDecision, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Logs:
    """The logs for a game.

    Attributes:
        game: Id of the game.
        match: Id of its match.
        seats: Seats whose logs the caller may read.
    """

    game: str
    match: str
    seats: tuple[LoggedSeat, ...]


class ChallengeState(StrEnum):
    """State of a challenge."""

    WAITING = "waiting"
    """None of its matches has begun."""
    RUNNING = "running"
    DONE = "done"
    """All its matches have been played."""
    FAILED = "failed"
    """It ended before all its matches were played."""

    @property
    def over(self) -> bool:
        """True if this state is final."""
        return self in {ChallengeState.DONE, ChallengeState.FAILED}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedGame:
    """A game in a challenge.

    Attributes:
        game: Id of the game.
        ended: End of the game.
        seats: Results, in seat order.
    """

    game: str
    ended: datetime
    seats: tuple[SeatResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """An entrant's results in all games in a challenge.

    Attributes:
        bot: The bot's name.
        version: Version number, from 1.
        games: Number of games played.
        wins: Games in which it was first or tied for first.
        mean_place: Mean place (1 is best); null if no games were played.
        points: Mean final points; null if no games were played.
    """

    bot: str
    version: int
    games: int
    wins: int
    mean_place: float | None
    points: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeSummary:
    """A challenge and its results.

    Attributes:
        id: The challenge's id.
        bot: Name of the challenging bot.
        version: Version number of the challenging bot.
        created: When it was requested.
        deals: Number of deals. Each is played once per seat, so that every entrant plays from every seat.
        state: The challenge's state.
        entrants: Entrants, starting with the challenger.
        games: Games played, in order; empty until all matches are over.
    """

    id: str
    bot: str
    version: int
    created: datetime
    deals: int
    state: ChallengeState
    entrants: tuple[Entrant, ...]
    games: tuple[PlayedGame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """A bot's figures in a game.

    Attributes:
        place: Place, from 1. Bots that the stand-in took over come last.
        decisions: Number of decisions requested from it, before any take-over.
        median_millis: Median time from request to answer; None if no answer came in time.
        slowest_millis: Time of the slowest answer; None if no answer came in time.
        late: Number of decisions that timed out.
        notes: Number of decisions with a note.
        stderr_bytes: Size of the stored part of its stderr, in bytes.
    """

    place: int
    decisions: int
    median_millis: float | None
    slowest_millis: float | None
    late: int
    notes: int
    stderr_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A submission.

    Attributes:
        id: The submission's id.
        bot: The bot's name.
        author: The author's name.
        kind: The file's type.
        note: The author's note.
        size: Size of the file in bytes.
        sha256: SHA-256 hash of the file, in hexadecimal.
        stage: The submission's stage.
        check_only: Whether it is a check, which never becomes a version.
        waiting: Why the submission is waiting; None if it isn't.
        version: Number of the resulting version; None if there is none.
        received: When the file arrived, in UTC.
        inspected: When it was inspected, in UTC; None if it was not.
        qualifying: When its qualification began, in UTC; None if it did not.
        ended: When it ended, in UTC; None while in progress.
        cause: Why it was rejected; None if it was not.
    """

    id: str
    bot: str
    author: str
    kind: UploadKind
    note: str
    size: int
    sha256: str
    stage: Stage
    check_only: bool
    waiting: str | None
    version: int | None
    received: datetime
    inspected: datetime | None
    qualifying: datetime | None
    ended: datetime | None
    cause: Cause | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionList:
    """A page of submissions.

    Attributes:
        submissions: Newest first.
        next: The URL of the next page; null on the last page.
    """

    submissions: tuple[Submission, ...]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionGame:
    """A qualification game for a submission.

    Attributes:
        number: Number of the game in the qualification, from 1. A game repeated because the host was busy
            keeps its number.
        match: Id of its match.
        state: State of its match.
        players: Number of players.
        seat: The bot's seat, from 0.
        game: Id of the game; None before the end.
        figures: The bot's figures; None before the end.
    """

    number: int
    match: str
    state: MatchState
    players: int
    seat: int
    game: str | None
    figures: Figures | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeSubmission(Submission):
    """A submission with its games.

    Attributes:
        games: Its qualification games, in order.
    """

    games: tuple[SubmissionGame, ...]


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
        change: Change in the score over the last seven days; None if this version had not played before then.
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
        players: Number of players in the games that count, 2 to 5; null for all games.
        rows: In the requested order. Bots with equal scores share a rank, as in 1, 1, 3.
        next: The URL of the next page; null on the last page.
    """

    players: int | None
    rows: tuple[Row, ...]
    next: str | None
