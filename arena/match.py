"""The specification and the record of one match: what a worker gets and gives back.

Both travel as bytes (JSON), so that a worker may be a thread, a process or
another host. A worker needs nothing else: no database, no names, no secrets.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeVar

import msgspec

from arena.rules import Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """How long a bot may take. Milliseconds of wall-clock time.

    Attributes:
        start_millis: From the start of its container to its Hello.
        move_millis: Free time of every decision.
        bank_millis: Per game; pays for what a decision takes beyond ``move_millis``.
    """

    start_millis: int = 10_000
    move_millis: int = 1_000
    bank_millis: int = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one seat's sandbox may use.

    Attributes:
        cpus: Share of the machine, in cores.
        memory_mib: Memory, swap excluded, files in /tmp included; MiB.
        pids: Processes and threads.
        tmp_mib: Size of /tmp, the only place that can be written; MiB.
    """

    cpus: float = 0.4
    memory_mib: int = 256
    pids: int = 64
    tmp_mib: int = 16


class RuntimeName(StrEnum):
    """How bots are run."""

    DOCKER = "docker"
    PROCESS = "process"
    """A plain child process without any isolation: for your own bots only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchSpec:
    """One seating of 2 to 5 bots that plays some deals.

    Attributes:
        match: The match's id.
        attempt: From 1; rises when the match is played again after a fault of the arena.
        rules: What is played.
        seeds: One a game, 32 hexadecimal digits each.
        seats: One a seat: the id of a Docker image (``sha256:…``), or for the
            process runtime the folder of a bot.
        clock: Time limits.
        limits: Sandbox limits of every seat.
        runtime: How the bots are run.
    """

    match: str
    attempt: int
    rules: Rules
    seeds: tuple[str, ...]
    seats: tuple[str, ...]
    clock: Clock
    limits: Limits
    runtime: RuntimeName


class Fault(StrEnum):
    """Why a decision was not the bot's own."""

    TIMEOUT = "timeout"
    """No answer in time."""
    ILLEGAL = "illegal"
    """A move that the rules forbid."""
    PROTOCOL = "protocol"
    """A message that breaks the protocol."""
    CRASH = "crash"
    """The bot ended, or closed its stream. The stand-in plays on."""
    ABSENT = "absent"
    """No valid Hello in time. The stand-in plays the whole game."""
    EXPELLED = "expelled"
    """Its stream was ended because it was no conversation at all. The stand-in plays on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One decision of one seat that was asked.

    Attributes:
        cards: What was placed, names of kinds in order.
        dummy: What the dummy got, or None.
        millis: From request to answer; None where no answer came in time.
        fault: Why the stand-in played, or None. A seat that was taken over
            earlier has no further faults.
        standin: Whether the stand-in played.
        trouble: In words, what was wrong; names what the bot had sent where it was refused.
        note: The bot's own note; private to its owner.
    """

    cards: tuple[str, ...]
    dummy: str | None = None
    millis: float | None = None
    fault: Fault | None = None
    standin: bool = False
    trouble: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRecord:
    """A game as it was played.

    Attributes:
        seed: 32 hexadecimal digits; the deck follows from it.
        steps: The joint decisions in order, each with one entry a seat, None
            for a seat that was not asked.
        totals: Points at the end as whoever played it counted them, one a seat and the dummy's last; none
            where it has no end. They are counted again before they are believed.
    """

    seed: str
    steps: tuple[tuple[Decision | None, ...], ...]
    totals: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatReport:
    """What became of one seat's sandbox.

    Attributes:
        image: Id of the image, or the folder of the bot.
        runtime: What isolated it, such as ``docker/runc`` or ``process (no isolation)``.
        limits: What held it, in words, one each, such as ``memory 256 MiB``.
        sdk: What the bot said of itself in Hello.
        exit_code: None where it was still running at the end.
        out_of_memory: Whether the kernel ended it for memory.
        stderr: The head and the tail of what it printed there; private to its owner.
        trouble: In words, what went wrong with it, or None.
    """

    image: str
    runtime: str
    limits: tuple[str, ...]
    sdk: str = ""
    exit_code: int | None = None
    out_of_memory: bool = False
    stderr: str = ""
    trouble: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRecord:
    """What was played. ``games`` may be fewer than seeds: after a crash no new game begins.

    Attributes:
        match: As in the spec.
        attempt: As in the spec.
        games: In the order of the spec's seeds.
        seats: One a seat.
        launch_seconds: What the sandboxes took to start.
    """

    match: str
    attempt: int
    games: tuple[GameRecord, ...]
    seats: tuple[SeatReport, ...]
    launch_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a game of a match is that is still being played. Whoever gets one may drop it.

    Attributes:
        match: As in the spec.
        attempt: As in the spec.
        game: Which of the spec's seeds, from 0.
        steps: Those of the rounds that are over, from the first on, as in a game's record but without what is
            private to owners. Nothing is in them of the round that is being played.
    """

    match: str
    attempt: int
    game: int
    steps: tuple[tuple[Decision | None, ...], ...]


MOST_PROGRESS_BYTES: Final = 64 * 1024
"""Of an encoded :class:`Progress`: a whole game of five has some 20 KiB. What is larger is dropped."""

T = TypeVar("T")


def encode(value: MatchSpec | MatchRecord | GameRecord | SeatReport | Progress) -> bytes:
    """Return the bytes that :func:`decode` reads."""
    return msgspec.json.encode(value)


def decode(data: bytes, kind: type[T]) -> T:
    """Read bytes from :func:`encode`.

    Raises:
        ValueError: The bytes are not of that kind; the text says where.
    """
    return msgspec.json.decode(data, type=kind)
