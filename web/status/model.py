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
from arena.platform.speech import clean_name
from arena.protocol.controls import CONTROLS, missing
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
        runtime: The runtime that isolates them.
        engine: Version of the Docker engine; empty if there is no engine.
        cgroup: Version and driver of the control groups; empty if there are none.
        checked: Time of the check, UTC.
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
        started: Start time, UTC.
        seats: In seat order. Seats of qualifications and challenges are only for operators; empty for others.
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
        seats: Number of bots it runs at a time.
        busy: Number of occupied seats at its last heartbeat.
        plays: Its matches in progress, oldest first.
        doubted: Whether it is on probation: its last match failed, so others are preferred until it completes
            one.
        usable: Number of its seats in use while its host has other work; null if all are.
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
    """Numbers of waiting matches.

    Attributes:
        qualification: Matches of submissions, which are played first.
        rated: Matches of the ladder.
        challenge: Matches of challenges.
    """

    qualification: int
    rated: int
    challenge: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """A clock hour.

    Attributes:
        begins: Start of the hour, UTC.
        games: Number of rated games that ended in it; a match or two at its edges may be miscounted.
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
        since: Time of quarantine, UTC.
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
        last_game: End of the newest rated game, UTC; null if there is none.
        hours: The last 24 clock hours, including the current one, which is last.
        paused: Whether the ladder is paused and creates no new matches.
        disk_full: Whether the disk is full: no match starts and no file is received.
        matches_running: Number of matches in progress.
        matches_waiting: Number of waiting matches.
        matches_quarantined: Number of matches quarantined after arena faults.
        running: Matches in progress, oldest first.
        workers: Workers with a recent heartbeat, by name.
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
"""Maximum number of quarantined matches listed."""

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
