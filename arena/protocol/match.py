"""A match's specification and record (a worker's input and output), and a worker's status.

They are sent as JSON, so a worker can be a thread or a process, even on another host. A worker needs nothing
else: no database, no names, no secrets.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import PurePath
from typing import Final, TypeVar

import msgspec

from arena.protocol.decoding import prepared
from arena.protocol.faults import Fault
from arena.rules import Card, GameLog, Move, Replay, Rules, replay, shuffled_deck

FORMAT: Final = 3
"""Version of both formats; increment it if either changes.

Version 2 added ``seatings``, and version 3 ``person``.
"""

_IMAGE: Final = "sha256:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """A bot's time limits in milliseconds. Only time during which the bot could run counts."""

    start_millis: int = 10_000  # from the start of the bot's container to its Hello
    move_millis: int = 1_000  # per decision, before the bank is used
    bank_millis: int = 10_000  # per game, for the time that decisions take beyond `move_millis`


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one seat's sandbox."""

    cpus: float = 0.4  # number of cores
    memory_mib: int = 256  # without swap, including files in /tmp
    pids: int = 64  # processes and threads
    tmp_mib: int = 16  # size of /tmp, the only writable place

    def lowered(self, to: "Limits") -> "Limits":
        """Return the lower value of each limit."""
        mine, others = asdict(self), asdict(to)
        return Limits(**{name: min(value, others[name]) for name, value in mine.items()})


class RuntimeName(StrEnum):
    """Runtime for bots."""

    DOCKER = "docker"
    PROCESS = "process"
    """A plain child process without isolation: for your own bots only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchSpec:
    """A table of 2 to 5 bots, and the deals that they play."""

    match: str  # the match's id
    attempt: int  # from 1; incremented each time the match is claimed
    rules: Rules
    seeds: tuple[str, ...]  # one per game, 32 hexadecimal digits each
    # One per bot: the id of a Docker image (`sha256:…`), or the bot's folder for the process runtime.
    # Sandboxes and reports are in this order.
    seats: tuple[str, ...]
    clock: Clock
    limits: Limits  # per seat
    runtime: RuntimeName
    # One per game: the index into `seats` of the bot in each seat. Empty if every bot keeps its seat.
    seatings: tuple[tuple[int, ...], ...] = ()
    person: int | None = None  # index into `seats` of the person's seat, whose entry is empty

    def bots(self, game: int) -> tuple[int, ...]:
        """Return the index into ``seats`` of the bot in each seat of a game."""
        return seated(self.seatings, game, self.rules.players)


def seated(seatings: Sequence[tuple[int, ...]], game: int, players: int) -> tuple[int, ...]:
    """Return the bot in each seat of a game. Without ``seatings``, bots sit in order."""
    return seatings[game] if seatings else tuple(range(players))


OUT_OF_MEMORY: Final = "killed by the kernel for using too much memory"
"""Description of ``SeatReport.out_of_memory``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A decision requested from one seat."""

    cards: tuple[str, ...]  # names of the cards placed, in order
    dummy: str | None = None  # the dummy's card; None if the seat didn't control the dummy
    millis: float | None = None  # from request to answer, on the bot's clock; None if no answer came in time
    # Why the stand-in played; None if the bot played, or if the seat had already been taken over.
    fault: Fault | None = None
    standin: bool = False
    trouble: str | None = None  # description of the fault; None if there was none
    note: str | None = None  # the bot's note; private to its owner
    # Time that `millis` excludes because the host kept the bot waiting or the referee was late; None if zero.
    waited_millis: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRecord:
    """A game as it was played, in seat order."""

    seed: str  # 32 hexadecimal digits; the deck follows from it
    # The joint decisions in order, each with one entry per seat, None for a seat with no move to make.
    steps: tuple[tuple[Decision | None, ...], ...]
    # Final points as the worker counted them, one entry per participant, with the dummy last; empty for
    # an unfinished game. The coordinator recomputes them.
    totals: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatReport:
    """The report on one bot's sandbox after a match."""

    image: str  # id of the image, or the folder of the bot
    runtime: str  # the isolation, such as `docker/runc` or `process (no isolation)`
    limits: tuple[str, ...]  # each in words, such as `memory 256 MiB`
    sdk: str = ""  # name and version of its SDK, from its Hello
    exit_code: int | None = None  # None if it was still running at the end
    out_of_memory: bool = False  # whether the kernel killed it for using too much memory
    stderr: str = ""  # head and tail; private to its owner
    trouble: str | None = None  # description of an error; None if there was none


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRecord:
    """The result of a MatchSpec, in the spec's order. If a bot was lost, the last games may be missing."""

    match: str
    attempt: int
    games: tuple[GameRecord, ...]
    seats: tuple[SeatReport, ...]
    launch_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of one game in a running match. Receivers may drop it."""

    match: str  # as in the spec
    attempt: int  # as in the spec
    game: int  # index into the spec's seeds
    # The decisions in the finished rounds, as in a game's record but without the fields that only owners may
    # see.
    steps: tuple[tuple[Decision | None, ...], ...]


def image_name(source: str) -> str:
    """Return the public name of a version's program: an image's id, or a folder's name without its path."""
    return source if source.startswith(_IMAGE) else PurePath(source).name


def public_trouble(report: SeatReport) -> str | None:
    """Return a sandbox's error in public form, with :func:`image_name` instead of a path."""
    if report.trouble is None:
        return None
    return report.trouble.replace(report.image, image_name(report.image))


MAX_PROGRESS_BYTES: Final = 64 * 1024
"""Size limit for an encoded :class:`Progress`; larger ones are dropped. A game with five players takes about
20 KiB."""

T = TypeVar("T")


def encode(value: MatchSpec | MatchRecord | GameRecord | SeatReport | Progress) -> bytes:
    """Encode as bytes for :func:`decode`."""
    return msgspec.json.encode(value)


def decode(data: bytes, kind: type[T]) -> T:
    """Decode bytes from :func:`encode`.

    Raises ValueError if the bytes don't encode that type. The message locates the problem.
    """
    return msgspec.json.decode(data, type=prepared(kind))


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStatus:
    """A worker's capacity and load."""

    name: str  # at most 64 characters; unique among the workers of a coordinator
    host: str  # its host's name
    seats: int  # number of its slots
    busy: int  # number of slots in use
    # Whether its last match failed or its record was rejected, so that other workers are preferred.
    doubted: bool = False
    usable: int | None = None  # number of slots it uses while its host has other work; None for all


def played_again(rules: Rules, game: GameRecord) -> Replay:
    """Replay a record as far as it follows the rules. Step ``i`` begins in state ``i``.

    Raises ValueError if the record names an unknown card.
    """
    moves = tuple(
        tuple([None if decision is None else move_of(decision) for decision in step]) for step in game.steps
    )
    return replay(GameLog(rules, shuffled_deck(rules, bytes.fromhex(game.seed)), moves))


def move_of(decision: Decision) -> Move:
    """Return a decision's move. Raises ValueError if it names an unknown card."""
    cards = tuple([Card.from_label(label) for label in decision.cards])
    return Move(cards, None if decision.dummy is None else Card.from_label(decision.dummy))


def decision_of(move: Move) -> Decision:
    """Return a move as a decision without times or faults."""
    dummy = None if move.dummy is None else move.dummy.label
    return Decision(cards=tuple([card.label for card in move.cards]), dummy=dummy)
