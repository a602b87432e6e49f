"""How the arena is, read from its store."""

from datetime import datetime
from typing import Final

from arena import __version__
from arena.controls import CONTROLS, missing
from arena.store import HostStatus, KnownWorker, MatchKind, OpenMatch, QuarantinedMatch, Store, Workload
from web.status.facts import ControlLine, Host, Hour, PutAside, Running, Seated, Status, Waiting, Worker
from web.text import clean_name

MOST_QUARANTINED: Final = 50
"""So many are listed, the newest of them."""

_STOPS: Final = {control.name: control.stops for control in CONTROLS}


def read_status(store: Store, now: datetime, *, operator: bool, disk_full: bool) -> Status:
    """Read how the arena is.

    Args:
        store: Its own.
        now: UTC.
        operator: Whether it is for an operator, who sees whose matches these are, and what went wrong.
        disk_full: Whether there is too little room on its disk.
    """
    reads, workers = store.reads, store.leases.workers()
    totals, load = reads.totals(), reads.workload(now)
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
        quarantined=tuple(map(_put_aside, reads.quarantine(MOST_QUARANTINED))) if operator else None,
        hosts=tuple(_host(host, workers) for host in reads.hosts()),
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
        plays=tuple(
            _running(match, named=named) for match in running if (match.coordinator, match.worker) == by
        ),
    )


def _put_aside(match: QuarantinedMatch) -> PutAside:
    return PutAside(
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
