"""What is said of a submission: how far it is, and why it was not taken. Plain, frozen data."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import msgspec

from arena.languages import LANGUAGES


class Stage(StrEnum):
    """How far a submission is.

    received ─▶ inspected ─▶ qualifying ─▶ active
        └───────────┴────────────┴───────▶ rejected
    """

    RECEIVED = "received"
    """The file is here, whole."""
    INSPECTED = "inspected"
    """An image of the arena's own has been made of it and is kept; the file is gone."""
    QUALIFYING = "qualifying"
    """The engine has it; it plays games that are not rated."""
    ACTIVE = "active"
    """It is the newest version of its bot and plays rated games."""
    REJECTED = "rejected"
    """The cause says why."""

    @property
    def over(self) -> bool:
        """Whether nothing more will become of it."""
        return self in {Stage.ACTIVE, Stage.REJECTED}


class UploadKind(StrEnum):
    """What a file is. The names of languages are those of :data:`arena.languages.LANGUAGES`."""

    IMAGE = "image"
    PYTHON = "python"
    JAVASCRIPT = "javascript"

    @property
    def suffix(self) -> str:
        """What the name of such a file ends with."""
        return _SUFFIXES.get(self.value, ".tar")


_SUFFIXES: Final = {language.name: language.suffixes[0] for language in LANGUAGES}


class CauseKind(StrEnum):
    """Why a bot was not taken."""

    FILE = "file"
    """It can't be made into an image of the arena's."""
    NAME = "name"
    """The bot's name belongs to somebody else by now."""
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
    """Its author is gone."""

    @property
    def shows_at_home(self) -> bool:
        """Whether the bot's author sees it on a machine of their own as well."""
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
