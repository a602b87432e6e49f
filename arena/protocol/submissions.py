"""A submission's stage, and why it was rejected. Plain, frozen data."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import msgspec

from arena.protocol.languages import LANGUAGES


class Stage(StrEnum):
    """The stage of a submission.

    received ─▶ inspected ─▶ qualifying ─▶ active
        └───────────┴────────────┴───────▶ rejected
    """

    RECEIVED = "received"
    """The file has arrived completely."""
    INSPECTED = "inspected"
    """The arena has built and stored an image from it; the file is deleted."""
    QUALIFYING = "qualifying"
    """The engine has the image; it plays unrated games."""
    ACTIVE = "active"
    """It is the newest version of its bot and plays rated games."""
    REJECTED = "rejected"
    """See its cause."""

    @property
    def over(self) -> bool:
        """Whether this stage is final."""
        return self in {Stage.ACTIVE, Stage.REJECTED}


class UploadKind(StrEnum):
    """The type of a file. Languages are named as in :data:`arena.protocol.languages.LANGUAGES`."""

    IMAGE = "image"
    PYTHON = "python"
    JAVASCRIPT = "javascript"

    @property
    def suffix(self) -> str:
        """The file name extension."""
        return _SUFFIXES.get(self.value, ".tar")


_SUFFIXES: Final = {language.name: language.suffixes[0] for language in LANGUAGES}


class CauseKind(StrEnum):
    """Why a bot was not taken."""

    FILE = "file"
    """It can't be made into an image of the arena's."""
    NAME = "name"
    """The bot's name belongs to another author by now."""
    BARRED = "barred"
    """An operator has taken the bot off the ladder for good."""
    SAME = "same"
    """A version of the bot has the very image that was made of it."""
    START = "start"
    """The engine can't start it."""
    MEMORY = "memory"
    """It used more memory than it may."""
    NETWORK = "network"
    """It wanted the network, which bots don't have, and ended or fell silent."""
    CRASH = "crash"
    """It ended by itself."""
    SILENT = "silent"
    """It ran and never said Hello."""
    EXPELLED = "expelled"
    """What it sent was no conversation."""
    SLOW = "slow"
    """It took too long to decide."""
    ILLEGAL = "illegal"
    """It played what the rules forbid."""
    PROTOCOL = "protocol"
    """It sent what the protocol forbids."""
    LOST = "lost"
    """The arena has lost it."""
    WITHDRAWN = "withdrawn"
    """Its author cancelled it, or is gone."""

    @property
    def shows_at_home(self) -> bool:
        """Whether the author can reproduce it on their own machine."""
        return self not in {
            CauseKind.NAME,
            CauseKind.BARRED,
            CauseKind.SAME,
            CauseKind.LOST,
            CauseKind.WITHDRAWN,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A decision that was asked of a bot.

    Attributes:
        game: Of the qualification, from 1.
        players: At that table.
        seat: The bot's, from 0.
        round: From 1.
        turn: From 1.
        hand: Names of the cards it held.
    """

    game: int
    players: int
    seat: int
    round: int
    turn: int
    hand: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why a submission was rejected. For its owner, and for operators.

    Attributes:
        stage: What it had reached.
        kind: What went wrong.
        text: The same in words.
        hint: What to try.
        exit_code: Of the bot; None where it still ran, or never did.
        out_of_memory: Whether the kernel ended it for memory.
        request: The last decision that was asked of it, or the one that it failed; None where there was none.
        stderr: The end of what it printed there.
    """

    stage: Stage
    kind: CauseKind
    text: str
    hint: str
    exit_code: int | None = None
    out_of_memory: bool = False
    request: Request | None = None
    stderr: str = ""


def encode_cause(cause: Cause) -> bytes:
    """Return the JSON that :func:`decode_cause` reads."""
    return msgspec.json.encode(cause)


def decode_cause(data: bytes) -> Cause:
    """Read JSON from :func:`encode_cause`."""
    return msgspec.json.decode(data, type=Cause)


HINTS: Final = {
    CauseKind.FILE: "Fix the problem named above and submit again; `arena check` says the same at home.",
    CauseKind.NAME: "Choose another name for your bot.",
    CauseKind.BARRED: "Ask the arena's operator.",
    CauseKind.SAME: (
        "Only what differs makes a new version. Which one plays is chosen on the bot's page, or with "
        "`arena rollback` and `arena return`."
    ),
    CauseKind.START: (
        "Run `docker run --rm IMAGE` on your machine: the program that ENTRYPOINT names must be in the "
        "image, and all users must be able to read and run it (chmod -R a+rX)."
    ),
    CauseKind.MEMORY: (
        "A bot usually has 256 MiB, files in /tmp included; an operator can set less. Load less, or later; "
        "`arena check` plays under the usual limit at home."
    ),
    CauseKind.NETWORK: (
        "Put everything that the bot needs into its image when you build it; `arena check` "
        "plays without a network at home, too."
    ),
    CauseKind.CRASH: (
        "The end of stderr shows its last output. `arena check` plays three games at home, in the same "
        "sandbox; `arena simulate` plays hundreds."
    ),
    CauseKind.SILENT: (
        "A bot usually has 10 seconds to connect to the socket that ARENA_REFEREE names and to say Hello; an "
        "operator can set another time. Start faster, or connect before you load."
    ),
    CauseKind.EXPELLED: (
        "Use the arena's library for your language, or see docs/protocol.md for what is allowed."
    ),
    CauseKind.SLOW: (
        "A decision usually has 1 second, and a bank of 10 seconds a game pays for longer ones, on 0.4 of a "
        "core; an operator can set another clock. `arena check` plays under the usual one at home, and says "
        "how long each decision took."
    ),
    CauseKind.ILLEGAL: "Play only cards of the hand, one, or two with chopsticks on the table.",
    CauseKind.PROTOCOL: "Answer every request once, with its game, round and turn; see docs/protocol.md.",
    CauseKind.LOST: "Submit it again.",
    CauseKind.WITHDRAWN: "There is nothing to do.",
}
