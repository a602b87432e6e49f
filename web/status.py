"""What the arena is doing and what its machines can hold: one set of facts for the page and for the API."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from arena.controls import CONTROLS, missing
from arena.store import Reads
from arena.store.reads import HostStatus
from web.text import clean_name

_STOPS: Final = {control.name: control.stops for control in CONTROLS}


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
    missing: tuple[ControlLine, ...]
    held: tuple[ControlLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How the arena is.

    Attributes:
        games: Rated games.
        matches_running: How many.
        matches_waiting: How many.
        matches_quarantined: Put aside for faults of the arena.
        hosts: Machines, the one that was checked last first.
    """

    games: int
    matches_running: int
    matches_waiting: int
    matches_quarantined: int
    hosts: tuple[Host, ...]


def read_status(reads: Reads) -> Status:
    """Read how the arena is."""
    totals = reads.totals()
    return Status(
        games=totals.games,
        matches_running=totals.matches_running,
        matches_waiting=totals.matches_waiting,
        matches_quarantined=reads.quarantined(),
        hosts=tuple(_host(host) for host in reads.hosts()),
    )


def _host(status: HostStatus) -> Host:
    report = status.report
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
        missing=tuple(lines[name] for name in lacking),
        held=tuple(line for name, line in lines.items() if name not in lacking),
    )
