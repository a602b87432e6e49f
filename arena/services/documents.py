"""The API's documents about the arena's activity. Commands print them too."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from arena import __version__
from arena.db.activity import HostStatus
from arena.db.leases import KnownWorker
from arena.db.queue import OpenMatch
from arena.db.store import Store
from arena.platform.text import clean_name
from arena.protocol.sandbox_controls import CONTROLS, missing
from arena.protocol.states import MatchKind
from arena.protocol.status import (
    ControlLine,
    Host,
    QuarantineEntry,
    RefusedWorker,
    Running,
    Seated,
    Status,
    Waiting,
    Worker,
)

MAX_QUARANTINED: Final = 50
"""Maximum number of quarantined matches to list."""


def read_status(store: Store, now: datetime, *, operator: bool, disk_full: bool) -> Status:
    """Read the arena's status; operators also see private matches and the reasons for failures."""
    workers = store.leases.workers()
    totals, load = store.activity.totals(), store.activity.workload(now)
    return Status(
        version=__version__,
        games=totals.games,
        last_game=load.last_game,
        hours=load.hours,
        paused=load.paused,
        disk_full=disk_full,
        matches_running=len(load.running),
        matches_waiting=sum(load.waiting.values()),
        matches_quarantined=load.quarantined,
        running=tuple(_running(match, named=operator) for match in load.running),
        workers=tuple(_worker(worker, load.running, named=operator) for worker in workers),
        refused=read_refused(store) if operator else None,
        waiting=Waiting(
            qualification=load.waiting[MatchKind.QUALIFICATION],
            rated=load.waiting[MatchKind.RATED],
            challenge=load.waiting[MatchKind.CHALLENGE],
        ),
        quarantined=tuple(map(quarantine_entry, store.queue.quarantined(MAX_QUARANTINED)))
        if operator
        else None,
        hosts=_hosts(store.activity.hosts(), workers),
    )


def _running(match: OpenMatch, *, named: bool) -> Running:
    is_public = named or match.kind is MatchKind.RATED
    return Running(
        match=match.match if is_public else None,
        kind=match.kind,
        players=match.players,
        deals=match.deals,
        started=match.started,
        seats=_cleaned(match.seats) if is_public else (),
    )


def read_workers(store: Store, now: datetime) -> tuple[Worker, ...]:
    """Read the workers as operators see them."""
    workers, running = store.leases.workers(), store.activity.workload(now).running
    return tuple(_worker(worker, running, named=True) for worker in workers)


def read_refused(store: Store) -> tuple[RefusedWorker, ...]:
    """Read the rejected workers, which get no matches, as operators see them."""
    return tuple(
        replace(each, name=clean_name(each.name), host=clean_name(each.host))
        for each in store.leases.refused()
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


def quarantine_entry(match: QuarantineEntry) -> QuarantineEntry:
    """Return a quarantined match as operators see it."""
    return replace(match, seats=_cleaned(match.seats))


def _cleaned(seats: tuple[Seated, ...]) -> tuple[Seated, ...]:
    return tuple(replace(seat, bot=clean_name(seat.bot)) for seat in seats)


def _hosts(known: Sequence[HostStatus], workers: tuple[KnownWorker, ...]) -> tuple[Host, ...]:
    """Return the hosts with workers, and the last one checked, which decides whether uploads are accepted."""
    present = {worker.status.host for worker in workers}
    return tuple(
        _host(host, workers) for number, host in enumerate(known) if not number or host.report.host in present
    )


def _host(status: HostStatus, workers: tuple[KnownWorker, ...]) -> Host:
    report = status.report
    there = [worker for worker in workers if worker.status.host == report.host]
    lacking = missing(report)
    lines = {
        name: ControlLine(name=name, stops=control.stops, accepted=name in status.accepted)
        for name, control in CONTROLS.items()
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
