"""Submissions: their stages, causes of rejection, and documents that the API returns."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from arena.languages.registry import UploadKind
from arena.protocol.states import MatchState


class Stage(StrEnum):
    """The stage of a submission.

    received ─▶ inspected ─▶ qualifying ─▶ active or passed
        └───────────┴────────────┴───────▶ rejected
    """

    RECEIVED = "received"
    """The file has arrived completely."""
    INSPECTED = "inspected"
    """The arena has built an image from the file, stored the image and deleted the file."""
    QUALIFYING = "qualifying"
    """The engine has the image, and the bot plays unrated games."""
    ACTIVE = "active"
    """It is the newest version of its bot and plays rated games."""
    PASSED = "passed"
    """The check succeeded; a check never becomes a version."""
    REJECTED = "rejected"
    """Not accepted; the cause says why."""

    @property
    def over(self) -> bool:
        """True if this stage is final."""
        return self in {Stage.ACTIVE, Stage.PASSED, Stage.REJECTED}


class CauseKind(StrEnum):
    """Why a submission was rejected."""

    FILE = "file"
    """The file can't be made into an image."""
    NAME = "name"
    """Another author has claimed the bot's name."""
    BARRED = "barred"
    """An operator has disqualified the bot."""
    SAME = "same"
    """A version of the bot already has the same image."""
    START = "start"
    """The engine can't start the image."""
    MEMORY = "memory"
    """The bot exceeded its memory limit."""
    NETWORK = "network"
    """The bot tried to use the network, which is unavailable, and then exited or stopped responding."""
    CRASH = "crash"
    """The bot exited or closed its stream."""
    SILENT = "silent"
    """The bot ran but sent no Hello."""
    EXPELLED = "expelled"
    """The bot was disconnected for sending something that the protocol doesn't allow."""
    SLOW = "slow"
    """The bot took too long to decide."""
    ILLEGAL = "illegal"
    """The bot played a move that the rules forbid."""
    PROTOCOL = "protocol"
    """The bot broke the protocol."""
    LOST = "lost"
    """The arena has lost the submission."""
    WITHDRAWN = "withdrawn"
    """The author cancelled it, or deleted their account."""

    @property
    def is_reproducible(self) -> bool:
        """True if the author can reproduce the problem on their own machine."""
        return self not in {
            CauseKind.NAME,
            CauseKind.BARRED,
            CauseKind.SAME,
            CauseKind.LOST,
            CauseKind.WITHDRAWN,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A decision requested from a bot.

    Attributes:
        game: Number of the qualification game, from 1.
        players: Number of players.
        seat: The bot's seat, from 0.
        round: Round number, from 1.
        turn: Turn number in its round, from 1.
        hand: Names of the cards in its hand.
    """

    game: int
    players: int
    seat: int
    round: int
    turn: int
    hand: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """The cause of a rejection, for the submission's owner and operators.

    Attributes:
        stage: The stage that the submission had reached.
        kind: The kind of cause.
        text: The cause in words.
        hint: What to try next.
        exit_code: The bot's exit code; None if it was still running, or never ran.
        out_of_memory: Whether the kernel killed it for using too much memory.
        request: The decision in which the bot failed, or else the last one requested; None before the first
            request.
        stderr: The end of its stderr.
    """

    stage: Stage
    kind: CauseKind
    text: str
    hint: str
    exit_code: int | None = None
    out_of_memory: bool = False
    request: Request | None = None
    stderr: str = ""


HINTS: Final = {
    CauseKind.FILE: "Fix the problem above and submit again. `arena check` reports it on your machine, too.",
    CauseKind.NAME: "Choose another name for your bot.",
    CauseKind.BARRED: "Contact the arena's operator.",
    CauseKind.SAME: (
        "Submitting the same file or image again creates no new version. To choose which version plays, use "
        "the bot's page, `arena rollback` or `arena return`."
    ),
    CauseKind.START: (
        "Run `docker run --rm IMAGE` on your machine: the program in ENTRYPOINT must be in the "
        "image, and all users must be able to read and run it (chmod -R a+rX)."
    ),
    CauseKind.MEMORY: (
        "Use less memory. The limit is usually 256 MiB, including files in /tmp; an "
        "operator can lower it. `arena check` applies the usual limit on your machine."
    ),
    CauseKind.NETWORK: (
        "Put everything that the bot needs into its image when you build it. `arena check` "
        "also plays without a network."
    ),
    CauseKind.CRASH: (
        "Fix the error above; the last lines of stderr show where it occurred. `arena check` plays three "
        "games on your machine in the same sandbox; `arena play` plays hundreds without a sandbox."
    ),
    CauseKind.SILENT: (
        "Start faster, or connect before you load data. A bot usually has 10 seconds to connect to the "
        "socket in ARENA_REFEREE and send Hello; the operator may have set a different limit."
    ),
    CauseKind.EXPELLED: ("Use the arena's SDK for your language, or follow docs/protocol.md."),
    CauseKind.SLOW: (
        "Decide faster. A bot usually has 1 second per decision, plus a bank of 10 seconds per game, on 0.4 "
        "of a core; the operator may have set different limits. `arena check` applies the usual clock and "
        "shows how long decisions took."
    ),
    CauseKind.ILLEGAL: "Play one card from the hand, or two if the bot has chopsticks on the table.",
    CauseKind.PROTOCOL: "Answer every request once, with its game, round and turn; see docs/protocol.md.",
    CauseKind.LOST: "Submit the bot again.",
    CauseKind.WITHDRAWN: "No action needed.",
}


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
        inspected: When it was inspected, in UTC; None if it hasn't been.
        qualifying: When its qualification began, in UTC; None if it hasn't begun.
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
        game: Id of the game; None until it has ended.
        figures: The bot's figures; None until the game has ended.
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
