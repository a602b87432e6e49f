"""A coordinator's view of a cluster: see :class:`arena.scheduler.workers.Workers`."""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from secrets import token_hex
from typing import Any, Final

import structlog
from distributed.scheduler import KilledWorker

from arena.platform.periodic import PeriodicTask
from arena.play.launcher import HostFailed, LauncherStopped, MatchVoid
from arena.protocol.match import WorkerStatus
from arena.protocol.status import RefusedWorker
from arena.scheduler.cluster.capacity import ClusterCapacity, ClusterMember
from arena.scheduler.cluster.host import play_here
from arena.scheduler.cluster.link import Link, OnProgress, SchedulerUnreachable
from arena.scheduler.cluster.messages import Answer, Dropped, Record, Void, read_answer
from arena.scheduler.workers import Verdict, WorkerLost


@dataclass(slots=True, eq=False)
class MatchInFlight:
    """A match that was assigned to a worker and has no result yet."""

    ticket: str  # identifies the match in its worker's messages
    run: str  # the worker's id, unique per join
    worker: str  # the worker's name
    seats: int
    progress: Callable[[bytes], None]
    promise: Future[bytes]  # resolves to the record
    answer: Future[Any] | None = None  # the worker's answer; None until the match is sent


_log = structlog.get_logger()

_POLL_SECONDS: Final = 0.5
"""Interval between polls of the workers."""

_PROBATION_SECONDS: Final = 60.0
"""Seconds after a void match during which a worker gets no matches that other workers could play."""

Connect = Callable[[str, OnProgress], Link]
"""Opens a connection for a session; raises SchedulerUnreachable if it can't."""

AdmissionCheck = Callable[[ClusterMember], str | None]
"""Called when a worker joins, and again after an expected error; returns why the worker must not be used,
or None."""


@contextmanager
def cluster_workers(
    connect: Connect,
    refuse: AdmissionCheck,
    now: Callable[[], datetime],
    expected: tuple[type[Exception], ...] = (),
) -> Iterator["ClusterWorkers"]:
    """Stay connected and keep track of the workers within the context; see :class:`ClusterWorkers`."""
    workers = ClusterWorkers(connect, refuse, now, expected)
    try:
        with PeriodicTask(workers.poll, name="cluster", seconds=_POLL_SECONDS, expected=()):
            yield workers
    finally:
        workers.close()


class ClusterWorkers:
    """The workers in a cluster; ``connect`` is called again each time the connection is lost.

    A reservation is released only when its worker has answered or left, even if the coordinator gave up on
    the match earlier. If several threads settle a match, only the first resolves its promise. If
    ``refuse`` raises an ``expected`` error, it is called again later; after any other error the worker is
    rejected. ``now`` returns the time in UTC.
    """

    def __init__(
        self,
        connect: Connect,
        refuse: AdmissionCheck,
        now: Callable[[], datetime],
        expected: tuple[type[Exception], ...] = (),
    ) -> None:
        self._connect = connect
        self._refuse = refuse
        self._now = now
        self._expected = expected
        self._session = token_hex(8)
        self._capacity = ClusterCapacity(self._session)
        self._refused: dict[str, RefusedWorker] = {}
        self._in_flight: dict[str, MatchInFlight] = {}  # unsettled matches by ticket
        self._link: Link | None = None
        self._last_error = ""
        self._stopped = threading.Event()
        self._lock = threading.RLock()

    def reserve(self, seats: int) -> "ClusterReservation | None":
        """Reserve seats on the worker with the most free seats."""
        with self._lock:
            if self._stopped.is_set():
                return None
            member = self._capacity.reserve(seats, time.monotonic())
            return None if member is None else ClusterReservation(self, member, seats)

    def status(self) -> tuple[WorkerStatus, ...]:
        """Return the status of each worker."""
        with self._lock:
            return self._capacity.status()

    def refused(self) -> tuple[RefusedWorker, ...]:
        """Return the rejected workers, sorted by name."""
        with self._lock:
            known = () if self._link is None else self._refused.values()
            return tuple(sorted(known, key=lambda worker: worker.name))

    def unavailable_reason(self) -> str | None:
        """Return why no worker accepts matches, or None if one does, even if it has no free seats."""
        with self._lock:
            if self._link is not None:
                return self._capacity.unavailable_reason()
            return (
                f"the scheduler is unavailable: {self._last_error}"
                if self._last_error
                else "the scheduler has not responded yet"
            )

    def stop(self) -> None:
        """Abort all matches at the next :meth:`poll`, and start no new ones."""
        self._stopped.set()

    def poll(self) -> None:
        """Update the workers and fail the matches on workers that have left; call this at intervals."""
        if self._stopped.is_set():
            self._fail_matches_not_on((), lambda _: LauncherStopped("the arena is stopping"))
            return
        try:
            link = self._connected_link()
            found = link.members()
            members = self._admit_members(found)
            self._refuse_unreadable(link.unreadable)
            self._prune_refused({member.card.run for member in found} | link.unreadable.keys())
        except SchedulerUnreachable as error:
            self._drop_link(str(error))
            return
        with self._lock:
            self._capacity.update(members)
        self._fail_matches_not_on(
            {member.card.run for member in members},
            lambda match: WorkerLost(f"worker {match.worker} has left"),
        )

    def close(self) -> None:
        """Fail all matches in flight and close the connection."""
        self.stop()
        self.poll()
        link, self._link = self._link, None
        if link is not None:
            link.close()

    def play(
        self, member: ClusterMember, seats: int, spec: bytes, progress: Callable[[bytes], None]
    ) -> Future[bytes]:
        """See :meth:`arena.scheduler.workers.Reservation.play`."""
        promise: Future[bytes] = Future()
        promise.set_running_or_notify_cancel()
        match = MatchInFlight(token_hex(8), member.card.run, member.card.name, seats, progress, promise)
        with self._lock:
            self._in_flight[match.ticket] = match
        link = self._link
        try:
            if link is None:
                raise SchedulerUnreachable("not connected to the scheduler")  # noqa: TRY301 - as for a lost connection
            answer = link.submit(member, seats, play_here, spec, self._session, match.ticket)
        except Exception as error:  # noqa: BLE001 - after any dask error, the match is not being played
            lost = WorkerLost(f"worker {match.worker}: {error}")
            self._settle(match.ticket, lambda match: match.promise.set_exception(lost))
            return promise
        with self._lock:
            match.answer = answer
            settled = match.ticket not in self._in_flight
        if settled:
            answer.cancel()
        # Without a reference to the match: as long as the match keeps the future, dask keeps the result, and
        # would play the match again on a worker that comes back at the same address.
        answer.add_done_callback(partial(self._on_answer, match.ticket))
        return promise

    def report(self, member: ClusterMember, seats: int, verdict: Verdict) -> None:
        """See :meth:`arena.scheduler.workers.Reservation.report`.

        A void match may be the worker's fault, for example if it can't load images, so other workers get the
        next matches.
        """
        run, now = member.card.run, time.monotonic()
        with self._lock:
            self._capacity.mark_checked(run, seats)
            was_on_probation = self._capacity.on_probation(run)
            if verdict is Verdict.FAILED:
                self._capacity.back_off(run, now)
                self._capacity.put_on_probation(run, now + _PROBATION_SECONDS)
            elif verdict is Verdict.VALID:
                self._capacity.trust(run)
        if verdict is Verdict.FAILED and not was_on_probation:
            _log.warning("worker on probation", worker=member.card.name)
        elif verdict is Verdict.VALID and was_on_probation:
            _log.info("worker off probation", worker=member.card.name)

    def release(self, member: ClusterMember, seats: int) -> None:
        """Release unused seats."""
        with self._lock:
            self._capacity.release(member.card.run, seats)

    def _connected_link(self) -> Link:
        if self._link is None:
            self._link = self._connect(self._session, self._forward_progress)
            _log.info("scheduler connected", scheduler=self._link.address)
            self._last_error = ""
        return self._link

    def _drop_link(self, why: str) -> None:
        with self._lock:
            link, self._link = self._link, None
            self._capacity.update(())
        if why != self._last_error:
            _log.warning("scheduler unavailable; will retry", error=why)
        self._last_error = why
        self._fail_matches_not_on(
            (), lambda match: WorkerLost(f"worker {match.worker} was lost along with the scheduler")
        )
        if link is not None:
            link.close()

    def _admit_members(self, members: tuple[ClusterMember, ...]) -> list[ClusterMember]:
        """Return the admitted members. New members that can't be checked yet are checked on the next call."""
        admitted = []
        for member in members:
            run = member.card.run
            if run in self._refused:
                continue
            with self._lock:
                known = run in self._capacity
            try:
                reason = None if known else self._refuse(member)
            except self._expected:
                continue
            except Exception:  # noqa: BLE001 - one worker's bad data must not affect the others
                _log.exception("worker messages unreadable", worker=member.card.name)
                reason = "its messages can't be read: see the coordinator's log"
            if reason is None:
                admitted.append(member)
                continue
            self._add_refused(run, member.card.name, member.card.host, reason)
        return admitted

    def _refuse_unreadable(self, unreadable: Mapping[str, tuple[str, str]]) -> None:
        """Reject workers whose card or state can't be read, for example because they run another version."""
        for address, (name, why) in unreadable.items():
            if address not in self._refused:
                self._add_refused(address, name, "", f"its card or state can't be read: {why}")

    def _add_refused(self, key: str, name: str, host: str, reason: str) -> None:
        _log.error("worker rejected", worker=name, reason=reason)
        refused = RefusedWorker(name=name, host=host, reason=reason, since=self._now())
        with self._lock:
            self._refused[key] = refused

    def _prune_refused(self, connected: Collection[str]) -> None:
        with self._lock:
            self._refused = {key: refused for key, refused in self._refused.items() if key in connected}

    def _fail_matches_not_on(self, runs: Collection[str], why: Callable[[MatchInFlight], Exception]) -> None:
        with self._lock:
            tickets = [ticket for ticket, match in self._in_flight.items() if match.run not in runs]
        for ticket in tickets:
            self._settle(ticket, lambda lost: lost.promise.set_exception(why(lost)))

    def _forward_progress(self, ticket: str, data: bytes) -> None:
        with self._lock:
            match = self._in_flight.get(ticket)
        if match is not None:
            match.progress(data)

    def _on_answer(self, ticket: str, done: Future[Any]) -> None:
        """Settle a match whose dask future is done."""
        try:
            answer = read_answer(done.result())
        except (CancelledError, KilledWorker):
            # The worker has left, whatever it last reported.
            self._settle(ticket, self._abandon)
        except Exception as error:  # noqa: BLE001 - raised by dask or by the worker's code
            reason = f"{type(error).__name__}: {error}"
            self._settle(ticket, lambda match: self._fail_as_lost(match, reason))
        else:
            self._settle(ticket, lambda match: self._resolve(match, answer))

    def _settle(self, ticket: str, resolve: Callable[[MatchInFlight], None]) -> None:
        """Release the seats, then call ``resolve``; do nothing if the match is already settled."""
        with self._lock:
            match = self._in_flight.pop(ticket, None)
            if match is None:
                return
            self._capacity.mark_answered(match.run, match.seats)
        if match.answer is not None and not match.answer.done():
            match.answer.cancel()
        resolve(match)

    def _resolve(self, match: MatchInFlight, answer: Answer) -> None:
        match answer:
            case Record(data):
                match.promise.set_result(data)
            case Dropped(reason):
                self._fail_as_lost(match, reason)
            case Void(reason, host=True):
                self._back_off(match)
                match.promise.set_exception(HostFailed(f"worker {match.worker}: {reason}"))
            case Void(reason):
                match.promise.set_exception(MatchVoid(f"worker {match.worker}: {reason}"))

    def _abandon(self, match: MatchInFlight) -> None:
        with self._lock:
            self._capacity.abandon(match.run)
        self._fail_as_lost(match, "the scheduler lost contact with it")

    def _fail_as_lost(self, match: MatchInFlight, reason: str) -> None:
        self._back_off(match)
        match.promise.set_exception(WorkerLost(f"worker {match.worker}: {reason}"))

    def _back_off(self, match: MatchInFlight) -> None:
        with self._lock:
            self._capacity.back_off(match.run, time.monotonic())


class ClusterReservation:
    """Seats reserved on a worker in a cluster; see :class:`arena.scheduler.workers.Reservation`."""

    def __init__(self, workers: ClusterWorkers, member: ClusterMember, seats: int) -> None:
        self.worker = member.card.name
        self.seats = seats
        self.cpus = member.card.cpus
        self._workers = workers
        self._member = member

    def play(self, spec: bytes, progress: Callable[[bytes], None]) -> Future[bytes]:
        """Play a match on the reserved seats."""
        return self._workers.play(self._member, self.seats, spec, progress)

    def report(self, verdict: Verdict) -> None:
        """Record the verdict on the match."""
        self._workers.report(self._member, self.seats, verdict)

    def release(self) -> None:
        """Release the seats."""
        self._workers.release(self._member, self.seats)
