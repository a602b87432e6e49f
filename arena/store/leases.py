"""Claims under lease: who plays a match, and for how long without a sign of life.

    waiting ──claim──▶ running ──record──▶ done
       ▲                  │
       ├──release, expire─┤
       └──void, lose──────┴── the last time that is borne ──▶ quarantined

``attempt`` rises with every claim and fences off whoever comes late: a write that names another attempt than
the last one changes nothing. Only a lease that is not renewed in time is taken away: who was merely slow can
still record what came of it, until somebody has seen that the lease has run out.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, delete, insert, or_, select, text, tuple_, update

from arena.failpoints import reach
from arena.match import MatchSpec, RuntimeName, decode
from arena.store import live_games, queue
from arena.store.database import Database
from arena.store.lease_clock import LeaseClock, LeaseTime
from arena.store.matches import Claim
from arena.store.models import OPEN, Match, MatchKind, MatchState
from arena.store.revision import check_revision
from arena.store.worker_models import Worker
from arena.workers.status import WorkerStatus

LEASE_SECONDS: Final = 30.0
"""Without a sign of life, until somebody else may claim."""

RENEW_SECONDS: Final = 4.0
"""Between two signs of life, and between two looks for leases that have run out."""

_VOIDS: Final = 3
"""Faults of the arena in one match before somebody has to look at it."""

_LOSSES: Final = 20
"""So often may whoever plays a match be lost. It is seldom the match's doing, but must not go on for ever."""


@dataclass(frozen=True, slots=True)
class KnownWorker:
    """A worker, as of its last sign of life.

    Attributes:
        coordinator: For which it plays: the id of an installation.
        status: What it is.
    """

    coordinator: str
    status: WorkerStatus


class Leases:
    """The matches that are being played, and who has them.

    A coordinator runs for months: where a newer program has changed the tables since they were opened, every
    method but :meth:`workers` raises DatabaseChanged.

    Args:
        database: The store's.
        clock: By which leases are told.
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
        """Return how many seats the match has that is due, or None where none waits for this runtime.

        With ``house_only`` matches with strangers' bots are passed over, and those ``without`` always.
        """
        with self._database.read() as connection:
            check_revision(connection, self._database.url)
            return queue.due(connection, runtime, house_only=house_only, without=without)

    def claim(  # noqa: PLR0913 - who, when, what
        self,
        coordinator: str,
        worker: str,
        at: datetime,
        runtime: RuntimeName,
        *,
        most: int | None = None,
        house_only: bool = False,
        without: Collection[str] = (),
    ) -> Claim | None:
        """Take the match for this runtime that is due, or return None where none waits.

        Args:
            coordinator: Id of the installation that claims.
            worker: Who is going to play it.
            at: UTC.
            runtime: How bots are run.
            most: It may have so many seats; None for any number.
            house_only: Whether matches with strangers' bots are passed over.
            without: Ids of matches that are passed over.
        """
        with self._write() as connection:
            match = queue.next_of(connection, runtime, most=most, house_only=house_only, without=without)
            if match is None:
                return None
            row = connection.execute(
                update(Match)
                .where(Match.id == match, Match.state == MatchState.WAITING)
                .values(state=MatchState.RUNNING, attempt=Match.attempt + 1, started=at)
                .values(coordinator=coordinator, worker=worker, **_until(self._clock(connection)))
                .returning(Match.spec, Match.attempt, Match.kind)
            ).one()
            reach("claiming")
            return Claim(
                spec=replace(decode(row.spec, MatchSpec), attempt=row.attempt),
                seats=queue.claimed_seats(connection, match),
                rated=row.kind == MatchKind.RATED,
            )

    def renew(self, coordinator: str, matches: Collection[str]) -> None:
        """Give a sign of life.

        Args:
            coordinator: Id of the installation.
            matches: Those that it has claimed and still wants. Of these it keeps those that nobody else has
                claimed meanwhile.
        """
        with self._write() as connection:
            until = _until(self._clock(connection))
            # One whose result is just being stored, however long that waits, must not hold up all the others.
            mine = (
                select(Match.id)
                .where(text(OPEN), Match.state == MatchState.RUNNING)
                .where(Match.coordinator == coordinator, Match.id.in_(matches))
                .with_for_update(skip_locked=True)
            )
            connection.execute(update(Match).where(Match.id.in_(mine)).values(**until))
            reach("renewing")

    def tell(self, coordinator: str, workers: Sequence[WorkerStatus]) -> None:
        """Say who could play for a coordinator now: it is only shown, and kept for as long as a lease.

        Args:
            coordinator: Id of the installation.
            workers: All of them.
        """
        with self._write() as connection:
            until = _until(self._clock(connection))
            connection.execute(delete(Worker).where(Worker.coordinator == coordinator))
            if workers:
                rows = [{"coordinator": coordinator, **asdict(worker), **until} for worker in workers]
                connection.execute(insert(Worker), rows)

    def release(self, coordinator: str) -> int:
        """Let all matches of a coordinator wait again; it counts as no fault.

        Args:
            coordinator: Id of the installation. Whoever calls knows that nobody plays for it any more.

        Returns:
            How many these were.
        """
        with self._write() as connection:
            connection.execute(delete(Worker).where(Worker.coordinator == coordinator))
            released = connection.execute(
                update(Match)
                .where(text(OPEN), Match.state == MatchState.RUNNING, Match.coordinator == coordinator)
                .values(**_AGAIN)
                .returning(Match.id)
            ).all()
            live_games.clear(connection)
            return len(released)

    def expire(self, at: datetime) -> dict[tuple[str, int], MatchState]:
        """Let matches wait again whose leases have run out, or give them up after too many losses.

        Args:
            at: UTC.

        Returns:
            Where they are now, by id and the attempt that is over.
        """
        with self._write() as connection:
            now = self._clock(connection)
            over = _over(Match, now)
            lost = connection.execute(
                select(Match.id, Match.attempt, Match.coordinator)
                .where(text(OPEN), Match.state == MatchState.RUNNING, over)
                .with_for_update(skip_locked=True)
            ).all()
            found = {}
            for row in lost:
                reason = f"nothing was heard of coordinator {row.coordinator} for {LEASE_SECONDS:.0f} s"
                state = _give_back(connection, (row.id, row.attempt), "losses", reason, at)
                if state is not None:
                    found[row.id, row.attempt] = state
            # One that gives a sign of life at this moment is not waited for, with all these matches locked.
            silent = select(Worker.coordinator, Worker.name).where(_over(Worker, now))
            gone = silent.with_for_update(skip_locked=True)
            connection.execute(delete(Worker).where(tuple_(Worker.coordinator, Worker.name).in_(gone)))
            return found

    def lose(self, match: str, attempt: int, reason: str, at: datetime) -> MatchState | None:
        """Drop an attempt whose worker was lost; after too many losses the match goes to quarantine.

        Returns:
            Where the match is now, or None where the attempt isn't the current one: then nothing changed.
        """
        with self._write() as connection:
            return _give_back(connection, (match, attempt), "losses", reason, at)

    def void(self, match: str, attempt: int, reason: str, at: datetime) -> MatchState | None:
        """Drop an attempt that the arena has spoilt; the third one goes to quarantine.

        Returns:
            Where the match is now, or None where the attempt isn't the current one: then nothing changed.
        """
        with self._write() as connection:
            return _give_back(connection, (match, attempt), "voids", reason, at)

    def workers(self) -> tuple[KnownWorker, ...]:
        """Return who could play matches, by name; those of whom nothing was heard lately are left out."""
        with self._database.read() as connection:
            now = self._clock(connection)
            rows = connection.execute(
                select(Worker.__table__).where(~_over(Worker, now)).order_by(Worker.name, Worker.coordinator)
            )
            return tuple(
                KnownWorker(
                    row.coordinator,
                    WorkerStatus(
                        name=row.name,
                        host=row.host,
                        seats=row.seats,
                        busy=row.busy,
                        doubted=row.doubted,
                    ),
                )
                for row in rows
            )


_AGAIN: Final[dict[str, Any]] = {
    "state": MatchState.WAITING,
    "started": None,
    "coordinator": None,
    "worker": None,
    "leased_until": None,
    "lease_clock": None,
}


def _until(now: LeaseTime) -> dict[str, Any]:
    return {"leased_until": now.seconds + LEASE_SECONDS, "lease_clock": now.clock}


def _over(table: type[Match | Worker], now: LeaseTime) -> ColumnElement[bool]:
    # One that runs without a lease, which nobody writes, must not run for ever.
    return or_(table.lease_clock.is_distinct_from(now.clock), table.leased_until < now.seconds)


def _give_back(
    connection: Connection, claim: tuple[str, int], counter: str, reason: str, at: datetime
) -> MatchState | None:
    """Let a match wait again and count why; the last time that is borne it is put aside."""
    match, attempt = claim
    mine = (Match.id == match, Match.attempt == attempt, Match.state == MatchState.RUNNING)
    count = getattr(Match, counter)
    counted = connection.execute(
        update(Match).where(*mine).values({count: count + 1, Match.reason: reason}).returning(count)
    ).scalar_one_or_none()
    if counted is None:
        return None
    again = counted < {"voids": _VOIDS, "losses": _LOSSES}[counter]
    after = _AGAIN if again else {"state": MatchState.QUARANTINED, "ended": at}
    connection.execute(update(Match).where(*mine).values(**after))
    live_games.clear(connection)
    return MatchState.WAITING if again else MatchState.QUARANTINED
