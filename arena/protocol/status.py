"""The API's document about the arena's activity. Commands print parts of it."""

from dataclasses import dataclass
from datetime import datetime

from arena.protocol.states import MatchKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlLine:
    """A control on a host. The details of its check are only for operators.

    Attributes:
        name: A short, stable name.
        stops: What the control prevents.
        accepted: Whether the operator accepts its absence.
    """

    name: str
    stops: str
    accepted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A host.

    Attributes:
        name: The host's name.
        strangers: Whether untrusted bots may play there.
        isolates: Whether bots are isolated at all.
        runtime: The runtime that runs them.
        engine: Version of the Docker engine; empty if there is no engine.
        cgroup: Version and driver of the control groups; empty if there are none.
        checked: Time of the check, in UTC.
        slots: Number of bots that can run there at a time; null if not reported yet.
        busy: Number of bots running there now; null if the host plays no matches.
        missing: Controls that failed.
        held: Controls that passed.
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
    """A seat at a table.

    Attributes:
        bot: The bot's name, without invisible characters.
        version: The version's number; null for a submission that is not a version yet.
    """

    bot: str
    version: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A match in progress.

    Attributes:
        match: The match's id; null if it is private.
        kind: The match's purpose.
        players: Number of slots it needs.
        deals: Number of its games.
        started: Start time, in UTC.
        seats: In seat order. For qualifications and challenges, empty unless an operator asks.
    """

    match: str | None
    kind: MatchKind
    players: int
    deals: int
    started: datetime
    seats: tuple[Seated, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A worker.

    Attributes:
        name: The worker's name.
        host: The worker's host.
        seats: Number of its slots.
        busy: Number of slots in use at its last heartbeat.
        plays: Its matches in progress, oldest first.
        doubted: Whether it is on probation after a failed match. Other workers are preferred until it
            completes a match.
        usable: Number of slots that it uses while its host has other work; null for all.
    """

    name: str
    host: str
    seats: int
    busy: int
    doubted: bool
    usable: int | None
    plays: tuple[Running, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedWorker:
    """A cluster worker to which a coordinator gives no matches.

    Attributes:
        name: The worker's name.
        host: The worker's host; empty if it could not be read.
        reason: Why it gets no matches.
        since: When it was rejected, in UTC.
    """

    name: str
    host: str
    reason: str
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Counts of waiting matches.

    Attributes:
        qualification: Qualification matches, which are played first.
        rated: Rated matches.
        challenge: Challenge matches.
    """

    qualification: int
    rated: int
    challenge: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """A clock hour.

    Attributes:
        begins: Start of the hour, in UTC.
        games: Number of rated games that ended in it. Some that ended near its start or end may be counted in
            the neighbouring hour.
    """

    begins: datetime
    games: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantineEntry:
    """A quarantined match.

    Attributes:
        match: The match's id.
        kind: The match's purpose.
        seats: In seat order.
        attempts: Number of attempts.
        reason: The arena's last failure.
        since: When it was quarantined, in UTC.
    """

    match: str
    kind: MatchKind
    seats: tuple[Seated, ...]
    attempts: int
    reason: str
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The arena's status.

    Attributes:
        version: Version of the software.
        games: Number of rated games.
        last_game: End of the latest rated game, in UTC; null before the first one.
        hours: The last 24 clock hours, including the current one, which is last.
        paused: Whether the ladder is paused and creates no new matches.
        disk_full: Whether the disk is full, so that no matches start and no files are received.
        matches_running: Number of matches in progress.
        matches_waiting: Number of waiting matches.
        matches_quarantined: Number of matches quarantined after arena faults.
        running: Matches in progress, oldest first.
        workers: Workers with a recent heartbeat, by name.
        refused: Workers that get no matches, by name; null unless an operator asks.
        waiting: Waiting matches, by kind.
        quarantined: Quarantined matches, newest first, at most 50; null unless an operator asks.
        hosts: Hosts, the most recently checked first.
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
    refused: tuple[RefusedWorker, ...] | None
    waiting: Waiting
    quarantined: tuple[QuarantineEntry, ...] | None
    hosts: tuple[Host, ...]
