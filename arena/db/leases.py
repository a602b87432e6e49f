"""Leases on matches: which coordinator plays a match, and how long its claim lasts without renewal.

    waiting ──claim──▶ running ──record──▶ done
       ▲                  │
       ├──release─────────┤
       └──void, loss──────┴── at the limit ──▶ quarantined

Every claim increments ``attempt``, which is the fencing token: a write for an earlier attempt changes
nothing. An overdue lease is lost only once :meth:`Leases.expire` finds it; until then, a slow worker's
result can still be stored.
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, delete, insert, or_, select, text, tuple_, update

from arena.db import live_games, queue
from arena.db import matches as dealing
from arena.db.database import Database, from_row
from arena.db.matches import Claim
from arena.db.schema import OPEN_MATCH, MatchRow, WorkerRow
from arena.db.schema_revision import check_revision
from arena.platform.environment import failpoint
from arena.protocol.match import MatchSpec, RuntimeName, WorkerStatus, decode
from arena.protocol.states import MatchKind, MatchState
from arena.protocol.status import RefusedWorker

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class LeaseTime:
    """A time on the lease clock."""

    seconds: float  # since an epoch that all users of this clock share
    clock: str  # the clock's identity; a lease on another clock counts as expired


LeaseClock = Callable[[Connection], LeaseTime]
"""Returns the time, given a connection to the database."""


def database_time(connection: Connection) -> LeaseTime:
    """Return the current time on the lease clock.

    On SQLite, this is the time since the host booted; on PostgreSQL, it is the server's time.
    """
    if connection.dialect.name == "sqlite":
        return LeaseTime(time.clock_gettime(time.CLOCK_BOOTTIME), _BOOT_ID.read_text().strip())
    seconds = connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one()
    return LeaseTime(float(seconds), "postgresql")


LEASE_SECONDS: Final = 30.0
"""Seconds from the last renewal of a lease until another coordinator may claim the match."""

RENEW_SECONDS: Final = 4.0
"""Seconds between renewals of a lease, and between searches for expired leases."""

_MAX_VOIDS: Final = 3
"""Number of arena faults after which a match is quarantined."""

_MAX_LOSSES: Final = 20
"""Number of lost workers and coordinators after which a match is quarantined: high, because the match is
rarely the cause of such a loss."""


@dataclass(frozen=True, slots=True)
class KnownWorker:
    """A worker as of its last heartbeat."""

    coordinator: str  # id of its coordinator's installation
    status: WorkerStatus


class Leases:
    """The running matches and their leases.

    A coordinator may run for months, and a newer version of the program may migrate the tables in the
    meantime. In that case, every method except :meth:`workers` and :meth:`refused` raises DatabaseChanged.
    """

    def __init__(self, database: Database, clock: LeaseClock) -> None:
        self._database = database
        self._clock = clock

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        with self._database.write() as connection:
            check_revision(connection, self._database.url)
            yield connection

    def due(
        self, runtime: RuntimeName, *, house_only: bool = False, without: Collection[str] = ()
    ) -> int | None:
        """Return the number of seats in the next match, or None if no match is waiting for this runtime.

        ``house_only`` skips matches with untrusted bots; ``without`` skips matches by id.
        """
        with self._database.read() as connection:
            check_revision(connection, self._database.url)
            query = queue.playable(runtime, house_only=house_only, without=without).limit(1)
            return connection.execute(query.with_only_columns(queue.seat_count())).scalar_one_or_none()

    def claim(  # noqa: PLR0913 - a claim needs all of these
        self,
        coordinator: str,
        worker: str,
        at: datetime,
        runtime: RuntimeName,
        *,
        max_seats: int | None = None,
        house_only: bool = False,
        without: Collection[str] = (),
    ) -> Claim | None:
        """Claim the next match for this runtime, or return None if no match is waiting.

        ``max_seats`` limits the match's seats. ``house_only`` skips matches with untrusted bots, and
        ``without`` skips matches by id.
        """
        with self._write() as connection:
            query = queue.playable(runtime, house_only=house_only, without=without).limit(1)
            if max_seats is not None:
                query = query.where(queue.seat_count() <= max_seats)
            # Don't wait for matches that other transactions have locked.
            query = query.with_for_update(skip_locked=True, of=MatchRow)
            match = connection.execute(query).scalar_one_or_none()
            if match is None:
                return None
            row = connection.execute(
                update(MatchRow)
                .where(MatchRow.id == match, MatchRow.state == MatchState.WAITING)
                .values(state=MatchState.RUNNING, attempt=MatchRow.attempt + 1, started=at)
                .values(coordinator=coordinator, worker=worker, **_lease_columns(self._clock(connection)))
                .returning(MatchRow.spec, MatchRow.attempt, MatchRow.kind)
            ).one()
            failpoint("claiming")
            spec = replace(decode(row.spec, MatchSpec), attempt=row.attempt)
            rated = row.kind == MatchKind.RATED
            return Claim(
                spec=dealing.deal(connection, spec) if rated else spec,
                seats=queue.claimed_seats(connection, match),
                rated=rated,
            )

    def renew(self, coordinator: str, matches: Collection[str]) -> None:
        """Renew a coordinator's leases on ``matches``, except those that another coordinator has claimed."""
        with self._write() as connection:
            until = _lease_columns(self._clock(connection))
            # Don't wait for a match whose result is being stored: that would delay the other renewals.
            mine = (
                select(MatchRow.id)
                .where(text(OPEN_MATCH), MatchRow.state == MatchState.RUNNING)
                .where(MatchRow.coordinator == coordinator, MatchRow.id.in_(matches))
                .with_for_update(skip_locked=True)
            )
            connection.execute(update(MatchRow).where(MatchRow.id.in_(mine)).values(**until))
            failpoint("renewing")

    def publish_workers(
        self, coordinator: str, workers: Sequence[WorkerStatus], refused: Sequence[RefusedWorker] = ()
    ) -> None:
        """Publish a coordinator's workers, for display only. Entries expire like leases."""
        with self._write() as connection:
            until = _lease_columns(self._clock(connection))
            connection.execute(delete(WorkerRow).where(WorkerRow.coordinator == coordinator))
            names = {worker.name for worker in workers}  # a refused worker may have been admitted since
            none = {"seats": 0, "busy": 0, "doubted": False, "usable": None}
            rows = [{**asdict(worker), "refused": None, "since": None} for worker in workers]
            rows += [
                {"name": each.name, "host": each.host, "refused": each.reason, "since": each.since, **none}
                for each in refused
                if each.name not in names
            ]
            if rows:
                connection.execute(
                    insert(WorkerRow), [{"coordinator": coordinator, **row, **until} for row in rows]
                )

    def release(self, coordinator: str) -> int:
        """Requeue all of a coordinator's matches, without counting a failure. Return how many were requeued.

        The caller must make sure that none of the coordinator's workers is still playing.
        """
        with self._write() as connection:
            connection.execute(delete(WorkerRow).where(WorkerRow.coordinator == coordinator))
            released = connection.execute(
                update(MatchRow)
                .where(
                    text(OPEN_MATCH),
                    MatchRow.state == MatchState.RUNNING,
                    MatchRow.coordinator == coordinator,
                )
                .values(**_REQUEUED)
                .returning(MatchRow.id)
            ).all()
            live_games.clear(connection)
            return len(released)

    def expire(self, at: datetime) -> dict[tuple[str, int], MatchState]:
        """Requeue or quarantine matches with expired leases, and remove workers without a recent heartbeat.

        Also deletes cancelled matches: one may have been requeued after its bot was disqualified.
        Returns the matches' new states, keyed by the match's id and the attempt that ended.
        """
        with self._write() as connection:
            now = self._clock(connection)
            over = _is_overdue(MatchRow, now)
            lost = connection.execute(
                select(MatchRow.id, MatchRow.attempt, MatchRow.coordinator)
                .where(text(OPEN_MATCH), MatchRow.state == MatchState.RUNNING, over)
                .with_for_update(skip_locked=True)
            ).all()
            found = {}
            for row in lost:
                reason = f"coordinator {row.coordinator} did not renew its lease for {LEASE_SECONDS:.0f} s"
                state = _requeue(connection, (row.id, row.attempt), "losses", reason, at)
                if state is not None:
                    found[row.id, row.attempt] = state
            queue.delete_cancelled(connection)
            # This transaction holds locks on matches, so don't wait for heartbeats that are being written.
            silent = select(WorkerRow.coordinator, WorkerRow.name).where(_is_overdue(WorkerRow, now))
            gone = silent.with_for_update(skip_locked=True)
            connection.execute(
                delete(WorkerRow).where(tuple_(WorkerRow.coordinator, WorkerRow.name).in_(gone))
            )
            return found

    def record_loss(self, match: str, attempt: int, reason: str, at: datetime) -> MatchState | None:
        """Drop an attempt whose worker was lost; after too many losses, quarantine the match.

        Returns the match's new state. If the attempt isn't the current one, changes nothing and returns None.
        """
        with self._write() as connection:
            return _requeue(connection, (match, attempt), "losses", reason, at)

    def record_void(self, match: str, attempt: int, reason: str, at: datetime) -> MatchState | None:
        """Drop an attempt that an arena fault voided; quarantine the match on its third such fault.

        Returns the match's new state. If the attempt isn't the current one, changes nothing and returns None.
        """
        with self._write() as connection:
            return _requeue(connection, (match, attempt), "voids", reason, at)

    def workers(self) -> tuple[KnownWorker, ...]:
        """Return the workers with a recent heartbeat, sorted by name."""
        with self._database.read() as connection:
            rows = connection.execute(self._recent(connection).where(WorkerRow.refused.is_(None)))
            return tuple(KnownWorker(row.coordinator, from_row(WorkerStatus, row)) for row in rows)

    def refused(self) -> tuple[RefusedWorker, ...]:
        """Return the refused workers with a recent heartbeat, sorted by name."""
        with self._database.read() as connection:
            rows = connection.execute(self._recent(connection).where(WorkerRow.refused.is_not(None)))
            return tuple(from_row(RefusedWorker, row, reason=row.refused) for row in rows)

    def _recent(self, connection: Connection) -> Select[*tuple[Any, ...]]:
        recent = select(WorkerRow.__table__).where(~_is_overdue(WorkerRow, self._clock(connection)))
        return recent.order_by(WorkerRow.name, WorkerRow.coordinator)


_REQUEUED: Final[dict[str, Any]] = {
    "state": MatchState.WAITING,
    "started": None,
    "coordinator": None,
    "worker": None,
    "leased_until": None,
    "lease_clock": None,
}


def _lease_columns(now: LeaseTime) -> dict[str, Any]:
    return {"leased_until": now.seconds + LEASE_SECONDS, "lease_clock": now.clock}


def _is_overdue(table: type[MatchRow | WorkerRow], now: LeaseTime) -> ColumnElement[bool]:
    # A running match without a lease counts as overdue: it must not run forever.
    return or_(table.lease_clock.is_distinct_from(now.clock), table.leased_until < now.seconds)


def _requeue(
    connection: Connection, claim: tuple[str, int], counter: str, reason: str, at: datetime
) -> MatchState | None:
    """Requeue a match and count the failure; quarantine it at the limit."""
    match, attempt = claim
    mine = (MatchRow.id == match, MatchRow.attempt == attempt, MatchRow.state == MatchState.RUNNING)
    count = getattr(MatchRow, counter)
    counted = connection.execute(
        update(MatchRow).where(*mine).values({count: count + 1, MatchRow.reason: reason}).returning(count)
    ).scalar_one_or_none()
    if counted is None:
        return None
    again = counted < {"voids": _MAX_VOIDS, "losses": _MAX_LOSSES}[counter]
    after = _REQUEUED if again else {"state": MatchState.QUARANTINED, "ended": at}
    connection.execute(update(MatchRow).where(*mine).values(**after))
    live_games.clear(connection)
    return MatchState.WAITING if again else MatchState.QUARANTINED
