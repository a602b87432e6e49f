"""The arena's status, read from its store: one set of facts for the page and the API."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from arena import __version__
from arena.db.activity import HostStatus, Workload
from arena.db.leases import KnownWorker
from arena.db.queue import OpenMatch, QuarantinedMatch
from arena.db.store import Store
from arena.protocol.controls import CONTROLS, missing
from arena.protocol.states import MatchKind
from web.http.rendering import clean_name


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
        strangers: Whether untrusted bots may play there.
        isolates: Whether bots are held at all.
        runtime: What holds them.
        engine: Version of the engine; empty without one.
        cgroup: Version of the control groups and who drives them; empty without.
        checked: When, in UTC.
        slots: Number of bots that can run there at a time; None if not reported yet.
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
        players: Number of slots it takes.
        deals: Number of its games.
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
        seats: Number of bots it runs at a time.
        busy: How many of these seats are taken, as of its last sign of life.
        plays: What it plays, the match that began first first.
        doubted: Whether it has spoilt matches, and others are preferred until it has played one.
        usable: How many of its seats are used while its host has other work; null where all are.
    """

    name: str
    host: str
    seats: int
    busy: int
    doubted: bool
    usable: int | None
    plays: tuple[Running, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """How many matches wait.

    Attributes:
        qualification: Those of submissions; they come first.
        rated: Those of the ladder.
        challenge: Those of challenges.
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
class QuarantineEntry:
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
    quarantined: tuple[QuarantineEntry, ...] | None
    hosts: tuple[Host, ...]


_WIDTH: Final = 20
_HEIGHT: Final = 100
_GAP: Final = 4
_ROUND: Final = (1, 2, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """An hour's bar."""

    hour: Hour
    x: int  # left edge
    y: float  # upper edge
    height: float  # at least visible if there were games


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """A bar chart."""

    bars: tuple[Bar, ...]  # from left to right
    width: int
    height: int
    bar: int  # width of a bar
    top: int  # number of games at full height: 1, 2 or 5 times a power of ten
    games: int  # in all hours
    most: int  # in one hour


def bars_of(hours: Sequence[Hour]) -> Bars:
    """Return the bars of these hours."""
    most = max(hour.games for hour in hours)
    top = next(step * 10**power for power in range(20) for step in _ROUND if step * 10**power >= most)
    return Bars(
        bars=tuple(_bar(hour, place, top) for place, hour in enumerate(hours)),
        width=len(hours) * _WIDTH,
        height=_HEIGHT,
        bar=_WIDTH - _GAP,
        top=top,
        games=sum(hour.games for hour in hours),
        most=most,
    )


def _bar(hour: Hour, place: int, top: int) -> Bar:
    height = max(1.0, round(_HEIGHT * hour.games / top, 1)) if hour.games else 0.0
    return Bar(hour=hour, x=place * _WIDTH + _GAP // 2, y=_HEIGHT - height, height=height)


MOST_QUARANTINED: Final = 50
"""Number of newest ones that are listed."""

_STOPS: Final = {control.name: control.stops for control in CONTROLS}


def read_status(store: Store, now: datetime, *, operator: bool, disk_full: bool) -> Status:
    """Read the arena's status; operators also see private matches and the reasons of failures."""
    workers = store.leases.workers()
    totals, load = store.activity.totals(), store.activity.workload(now)
    return Status(
        version=__version__,
        games=totals.games,
        last_game=load.last_game,
        hours=tuple(Hour(begins=hour.begins, games=hour.games) for hour in load.hours),
        paused=load.paused,
        disk_full=disk_full,
        matches_running=len(load.running),
        matches_waiting=sum(load.waiting.values()),
        matches_quarantined=load.quarantined,
        running=tuple(_running(match, named=operator) for match in load.running),
        workers=tuple(_worker(worker, load.running, named=operator) for worker in workers),
        waiting=_waiting(load),
        quarantined=tuple(map(_quarantine_entry, store.queue.quarantine(MOST_QUARANTINED)))
        if operator
        else None,
        hosts=tuple(_host(host, workers) for host in store.activity.hosts()),
    )


def _waiting(load: Workload) -> Waiting:
    return Waiting(
        qualification=load.waiting[MatchKind.QUALIFICATION],
        rated=load.waiting[MatchKind.RATED],
        challenge=load.waiting[MatchKind.CHALLENGE],
    )


def _running(match: OpenMatch, *, named: bool) -> Running:
    told = named or match.kind is MatchKind.RATED
    return Running(
        match=match.match if told else None,
        kind=match.kind,
        players=match.players,
        deals=match.deals,
        started=match.started,
        seats=_seated(match.seats) if told else (),
    )


def _worker(worker: KnownWorker, running: tuple[OpenMatch, ...], *, named: bool) -> Worker:
    status, by = worker.status, (worker.coordinator, worker.status.name)
    return Worker(
        name=clean_name(status.name),
        host=clean_name(status.host),
        seats=status.seats,
        busy=status.busy,
        doubted=status.doubted,
        usable=status.usable,
        plays=tuple(
            _running(match, named=named) for match in running if (match.coordinator, match.worker) == by
        ),
    )


def _quarantine_entry(match: QuarantinedMatch) -> QuarantineEntry:
    return QuarantineEntry(
        match=match.match,
        kind=match.kind,
        seats=_seated(match.seats),
        attempts=match.attempts,
        reason=match.reason,
        since=match.since,
    )


def _seated(seats: tuple[tuple[str, int | None], ...]) -> tuple[Seated, ...]:
    return tuple(Seated(bot=clean_name(bot), version=version) for bot, version in seats)


def _host(status: HostStatus, workers: tuple[KnownWorker, ...]) -> Host:
    report = status.report
    there = [worker for worker in workers if worker.status.host == report.host]
    lacking = missing(report)
    lines = {
        name: ControlLine(name=name, stops=stops, accepted=name in status.accepted)
        for name, stops in _STOPS.items()
    }
    return Host(
        name=clean_name(report.host),
        strangers=not status.unaccepted,
        isolates=report.isolates,
        runtime=report.runtime,
        engine=report.engine,
        cgroup=report.cgroup,
        checked=report.checked,
        slots=report.slots,
        busy=sum(worker.status.busy for worker in there) if there else None,
        missing=tuple(lines[name] for name in lacking),
        held=tuple(line for name, line in lines.items() if name not in lacking),
    )
