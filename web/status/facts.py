"""What is told of how the arena is: one set of facts for the page and for the API."""

from dataclasses import dataclass
from datetime import datetime

from arena.store import MatchKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlLine:
    """One control on one machine. What was seen of it is for the operator, not for everybody.

    Attributes:
        name: Short and stable.
        stops: What it keeps a bot from.
        accepted: Whether the operator accepts its absence.
    """

    name: str
    stops: str
    accepted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One machine.

    Attributes:
        name: Its own.
        strangers: Whether bots of strangers may play there.
        isolates: Whether bots are held at all.
        runtime: What holds them.
        engine: Version of the engine; empty without one.
        cgroup: Version of the control groups and who drives them; empty without.
        checked: When, in UTC.
        slots: So many bots run there at a time; None where nobody has noted it yet.
        busy: How many run there now; None where nobody plays there.
        missing: Controls that were not held.
        held: Those that were.
    """

    name: str
    strangers: bool
    isolates: bool
    runtime: str
    engine: str
    cgroup: str
    checked: datetime
    slots: int | None
    busy: int | None
    missing: tuple[ControlLine, ...]
    held: tuple[ControlLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seated:
    """Who sits at a table.

    Attributes:
        bot: Name, cleaned.
        version: Number; None for a submission that is no version yet.
    """

    bot: str
    version: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A match that is being played.

    Attributes:
        match: Its id; None where it is not for everybody to know.
        kind: What it is for.
        players: So many slots it takes.
        deals: So many games it has.
        started: UTC.
        seats: In seat order. Who qualifies or challenges is for operators; others get none of these.
    """

    match: str | None
    kind: MatchKind
    players: int
    deals: int
    started: datetime
    seats: tuple[Seated, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Who plays matches.

    Attributes:
        name: Its own.
        host: The machine on which it is.
        seats: So many bots it runs at a time.
        busy: How many of these seats are taken, as of its last sign of life.
        plays: What it plays, the match that began first first.
        doubted: Whether it has spoilt matches, and others are preferred until it has played one.
    """

    name: str
    host: str
    seats: int
    busy: int
    doubted: bool
    plays: tuple[Running, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """How many matches wait.

    Attributes:
        qualification: Those of submissions; they come first.
        rated: Those of the ladder.
        challenge: Those that somebody asked for.
    """

    qualification: int
    rated: int
    challenge: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """An hour of the clock.

    Attributes:
        begins: UTC.
        games: Rated games that ended in it; right but for a match or two at its edges.
    """

    begins: datetime
    games: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PutAside:
    """A match that was put aside.

    Attributes:
        match: Its id.
        kind: What it is for.
        seats: In seat order.
        attempts: How often it was begun.
        reason: Why the arena failed it the last time.
        since: UTC.
    """

    match: str
    kind: MatchKind
    seats: tuple[Seated, ...]
    attempts: int
    reason: str
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How the arena is.

    Attributes:
        version: Of the software.
        games: Rated games.
        last_game: When the newest of them ended, in UTC; None without one.
        hours: The last 24; at the end the one that has begun.
        paused: Whether the ladder draws no new matches just now.
        disk_full: Whether no match begins and no file is received, since there is too little room for them.
        matches_running: How many.
        matches_waiting: How many.
        matches_quarantined: Put aside for faults of the arena.
        running: Those that are being played, the one that began first first.
        workers: Who plays them: those of whom something was heard lately, by name.
        waiting: Those that wait, by kind.
        quarantined: Those that were put aside, the last first, 50 at most; None for others than operators.
        hosts: Machines, the one that was checked last first.
    """

    version: str
    games: int
    last_game: datetime | None
    hours: tuple[Hour, ...]
    paused: bool
    disk_full: bool
    matches_running: int
    matches_waiting: int
    matches_quarantined: int
    running: tuple[Running, ...]
    workers: tuple[Worker, ...]
    waiting: Waiting
    quarantined: tuple[PutAside, ...] | None
    hosts: tuple[Host, ...]
