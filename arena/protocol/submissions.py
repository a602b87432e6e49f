"""A submission's stage, and the cause of its rejection."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


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
    def shows_at_home(self) -> bool:
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
        "games on your machine in the same sandbox; `arena simulate` plays hundreds without a sandbox."
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
