"""Documents of the site's API: the site answers with them, and the client reads them. Frozen data.

Their docstrings are the API's description: see :mod:`web.http.api`.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from arena.protocol.faults import Fault
from arena.protocol.states import BotState, MatchState, Role, Scope
from arena.protocol.submissions import Cause, Stage, UploadKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token.

    Attributes:
        id: Its number.
        name: What its owner calls it.
        prefix: How its secret begins.
        scopes: What it may do.
        created: When it was made.
        expires: When it ends to work.
        last_used: When it was used last, about; null where it never was.
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
    """Who asks.

    Attributes:
        name: Of the account.
        role: What the account may do.
        created: When it was made.
        scopes: What the caller may do, by name.
        token: With which the caller asks; null for a session.
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
        name: Its own.
        author: Its author's name.
        house: Whether it is one of the arena's own.
        state: Whether it plays.
        reason: Why it does not; null where there is no more to say.
        since: When state or version changed last; null where neither ever did.
        version: The number of the version that plays, or would.
        newest: The highest number of a version.
        open_to_people: Whether its author lets anyone play against it; house bots play anyway.
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
class RatedResult:
    """How a version did in rated games.

    Attributes:
        players: Number of players, or 0 for all games.
        games: How many.
        wins: Games in which it was first, alone or shared.
        mean_place: 1 is best; null without a game.
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
        number: From 1.
        playing: Whether it is the one that plays, or would.
        created: When it came to the ladder.
        image: Id of its image, or the name of its folder.
        sha256: Of the file that it came of; null where it came of none.
        size: Of that file, in bytes; null as above.
        note: Its author's own words; null for others than its owner and operators.
        available: Whether its image is still kept. Without it can't play again.
        results: For all games first, then by number of players.
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
class SeatDecision:
    """A decision that needs more than its cards to describe.

    Attributes:
        round: From 1.
        turn: Within the round, from 1.
        note: The bot's own words, or None.
        fault: Why the stand-in played, or None.
        trouble: What went wrong, in words, or None.
        millis: From request to answer; None without an answer in time.
        waited_millis: Time excluded from that because the host kept the bot waiting, or None.
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
    """What became of a seat.

    Attributes:
        seat: From 0.
        bot: Name.
        version: Number; null for a submission, which was no version then.
        exit_code: Of its program; null where that ran until the end of the match.
        out_of_memory: Whether the kernel ended it for memory.
        trouble: What went wrong with its sandbox, or null.
        stderr: The head and the tail of what it printed there, in the whole match.
        decisions: Those with a note, a fault or a trouble.
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
    """What bots left of a game.

    Attributes:
        game: Its id.
        match: Id of its match.
        seats: Those that are for the caller.
    """

    game: str
    match: str
    seats: tuple[LoggedSeat, ...]


class ChallengeState(StrEnum):
    """How far a challenge is."""

    WAITING = "waiting"
    """None of its matches has begun."""
    RUNNING = "running"
    DONE = "done"
    """All its matches were played."""
    FAILED = "failed"
    """Nothing more will come of it, and not all its matches were played."""

    @property
    def over(self) -> bool:
        """Whether this state is final."""
        return self in {ChallengeState.DONE, ChallengeState.FAILED}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedGame:
    """A game of a challenge.

    Attributes:
        game: Id.
        ended: When.
        seats: In seat order.
    """

    game: str
    ended: datetime
    seats: tuple[SeatResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """The results of an entrant in all games of a challenge.

    Attributes:
        bot: Name.
        version: Number, from 1.
        games: That were played.
        wins: Games in which it was first, alone or shared.
        mean_place: 1 is best; null without a game.
        points: At the end of a game, on average; null without a game.
    """

    bot: str
    version: int
    games: int
    wins: int
    mean_place: float | None
    points: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeSummary:
    """A challenge, and what came of it.

    Attributes:
        id: Its own.
        bot: Name of the bot that challenges.
        version: Its number.
        created: When it was requested.
        deals: Each is played once a seat, with everybody once on each.
        state: How far it is.
        entrants: The challenger first.
        games: Those that were played, in their order; none before all matches are over.
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
    """How a bot did in a game.

    Attributes:
        place: From 1; bots that were taken over come last.
        decisions: That were asked of it, while it had not been taken over.
        median_millis: From request to answer; None where no answer came in time.
        slowest_millis: The same of the slowest answer.
        late: Decisions that came too late.
        notes: Decisions that came with a note.
        stderr_bytes: Size of the stored part of its stderr.
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
    """A file that was sent, and what became of it.

    Attributes:
        id: Its own.
        bot: Name.
        author: Name.
        kind: What the file is.
        note: Its author's words.
        size: Bytes.
        sha256: Of the file, hexadecimal.
        stage: How far it is.
        waiting: What the arena itself lacks to go on with it, or None.
        version: The number of the version that it became, or None.
        received: UTC.
        inspected: UTC; None where it never was.
        qualifying: UTC, of its beginning; None where it never was.
        ended: UTC; None while it is on its way.
        cause: Why it was rejected, or None.
    """

    id: str
    bot: str
    author: str
    kind: UploadKind
    note: str
    size: int
    sha256: str
    stage: Stage
    waiting: str | None
    version: int | None
    received: datetime
    inspected: datetime | None
    qualifying: datetime | None
    ended: datetime | None
    cause: Cause | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionGame:
    """A game that a submission plays, or has played, to qualify.

    Attributes:
        number: Which of the qualification's games it is, from 1. If a game does not count because the host
            was busy, the one that is played again has its number.
        match: Id of its match.
        state: How far it is.
        players: How many.
        seat: The bot's, from 0.
        game: Id; None before the end.
        figures: How the bot did; None before the end.
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
        games: In their order.
    """

    games: tuple[SubmissionGame, ...]
