"""The workers of a cluster, as a coordinator asks for them: see :class:`arena.workers.workers.Workers`."""

import math
import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from secrets import token_hex
from typing import Any, Final

import structlog
from distributed.scheduler import KilledWorker

from arena.cluster.given import Given, Tickets
from arena.cluster.link import Heard, Link, SchedulerAway
from arena.cluster.messages import Answer, Dropped, Record, Void, read_answer
from arena.cluster.place import ClusterPlace
from arena.cluster.rooms import Member, Rooms
from arena.cluster.task import play_here
from arena.launcher import HostFailed, LauncherStopped, MatchVoid
from arena.recurring import Recurring
from arena.workers.status import WorkerStatus
from arena.workers.workers import Verdict, WorkerLost

_log = structlog.get_logger()

_LOOK_SECONDS: Final = 0.5
"""Between two looks who is there."""

_REST_SECONDS: Final = 4.0
"""After a worker did not do as it was expected to, until what it says of itself is believed again."""

_DOUBT_SECONDS: Final = 60.0
"""After a match was spoilt at a worker, until it is given one again that others could play."""

Connect = Callable[[str, Heard], Link]
"""Makes a connection for a session; raises SchedulerAway where that can't be done."""

Admit = Callable[[Member], bool]
"""Is asked once of every worker that joins whether it may be used."""


@contextmanager
def cluster_workers(
    connect: Connect, admit: Admit, expected: tuple[type[Exception], ...] = ()
) -> Iterator["ClusterWorkers"]:
    """Give the workers of a cluster, whoever is there and whenever they come.

    Args:
        connect: Makes connections, again after each that breaks.
        admit: Says who is used.
        expected: See :class:`ClusterWorkers`.
    """
    workers = ClusterWorkers(connect, admit, expected)
    try:
        with Recurring(workers.look, name="cluster", seconds=_LOOK_SECONDS, expected=()):
            yield workers
    finally:
        workers.close()


class ClusterWorkers:
    """See the module.

    A place is given back when its worker has answered or has gone, however long the coordinator has given the
    match up by then: until then the worker has no room for another.

    Args:
        connect: Makes connections.
        admit: Says who is used.
        expected: What this may raise when it can't tell; it is asked again then. Of whom it raises anything
            else is not used.
    """

    def __init__(self, connect: Connect, admit: Admit, expected: tuple[type[Exception], ...] = ()) -> None:
        self._connect = connect
        self._admit = admit
        self._expected = expected
        self._session = token_hex(8)
        self._rooms = Rooms(self._session)
        self._refused: frozenset[str] = frozenset()
        self._tickets = Tickets()
        self._link: Link | None = None
        self._trouble = ""
        self._stopped = threading.Event()
        self._lock = threading.RLock()

    def take(self, seats: int) -> ClusterPlace | None:
        """Reserve room at the worker that has most of it."""
        with self._lock:
            if self._stopped.is_set():
                return None
            member = self._rooms.take(seats, time.monotonic())
            return None if member is None else ClusterPlace(self, member, seats)

    def status(self) -> tuple[WorkerStatus, ...]:
        """Return who there is."""
        with self._lock:
            return self._rooms.status()

    def trouble(self) -> str | None:
        """Return why no match can be given to anybody, however much room there is, or None where one can."""
        with self._lock:
            if self._link is not None:
                return self._rooms.trouble()
            return (
                f"the scheduler is away: {self._trouble}"
                if self._trouble
                else "the scheduler was not found yet"
            )

    def stop(self) -> None:
        """End all matches, and begin no more; done by the next look, as a signal's handler may call this."""
        self._stopped.set()

    def look(self) -> None:
        """See who is there, and what that means for matches that were given away. Called at intervals."""
        if self._stopped.is_set():
            self._fail_elsewhere((), lambda _: LauncherStopped("the arena is being stopped"))
            return
        try:
            link = self._linked()
            members = self._admitted(link.members())
        except SchedulerAway as error:
            self._lose_link(str(error))
            return
        with self._lock:
            self._rooms.update(members)
        self._fail_elsewhere(
            [member.card.run for member in members],
            lambda given: WorkerLost(f"worker {given.worker} has gone"),
        )

    def close(self) -> None:
        """End the connection, and whatever is waited for."""
        self.stop()
        self.look()
        link, self._link = self._link, None
        if link is not None:
            link.close()

    def play(
        self, member: Member, seats: int, spec: bytes, progress: Callable[[bytes], None]
    ) -> Future[bytes]:
        """See :meth:`arena.workers.workers.Place.play`."""
        promise: Future[bytes] = Future()
        promise.set_running_or_notify_cancel()
        given = Given(token_hex(8), member.card.run, member.card.name, seats, progress, promise)
        self._tickets.add(given)
        link = self._link
        try:
            answer = (
                _linked(link).executor(member, seats).submit(play_here, spec, self._session, given.ticket)
            )
        except Exception as error:  # noqa: BLE001 - whatever dask has against it, nobody plays this match
            lost = WorkerLost(f"worker {given.worker}: {error}")
            self._settle(given.ticket, lambda given: given.fail(lost))
            return promise
        if not self._tickets.sent(given.ticket, answer):
            answer.cancel()
        answer.add_done_callback(lambda done: self._answered(given.ticket, done))
        return promise

    def judge(self, member: Member, seats: int, verdict: Verdict) -> None:
        """See :meth:`arena.workers.workers.Place.judge`.

        Where a match is spoilt it may be the worker's doing, such as images that it can't reach: then others
        have their turn.
        """
        run, now = member.card.run, time.monotonic()
        with self._lock:
            self._rooms.judged(run, seats)
            doubted = self._rooms.doubts(run)
            if verdict is Verdict.SPOILT:
                self._rooms.rest(run, now + _REST_SECONDS)
                self._rooms.doubt(run, now + _DOUBT_SECONDS)
            elif verdict is Verdict.BELIEVED:
                self._rooms.trust(run)
        if verdict is Verdict.SPOILT and not doubted:
            _log.warning("worker doubted: others play what they can", worker=member.card.name)
        elif verdict is Verdict.BELIEVED and doubted:
            _log.info("worker no longer doubted", worker=member.card.name)

    def give_back(self, member: Member, seats: int) -> None:
        """Free seats that were not used."""
        with self._lock:
            self._rooms.give_back(member.card.run, seats)

    def _linked(self) -> Link:
        if self._link is None:
            self._link = self._connect(self._session, self._heard)
            _log.info("the scheduler answers", scheduler=self._link.address)
            self._trouble = ""
        return self._link

    def _lose_link(self, why: str) -> None:
        with self._lock:
            link, self._link = self._link, None
            self._rooms.update(())
        if why != self._trouble:
            _log.warning("the scheduler is away; it is tried again", error=why)
        self._trouble = why
        self._fail_elsewhere((), lambda given: WorkerLost(f"worker {given.worker} went with the scheduler"))
        if link is not None:
            with suppress(OSError, TimeoutError):
                link.close()

    def _admitted(self, members: tuple[Member, ...]) -> list[Member]:
        """Return those that may be used; each is asked about until there is an answer."""
        used = []
        for member in members:
            run = member.card.run
            if run in self._refused:
                continue
            with self._lock:
                known = run in self._rooms
            try:
                welcome = known or self._admit(member)
            except self._expected:
                continue  # the others are looked after all the same
            except Exception:  # noqa: BLE001 - what one worker says must not take all others with it
                _log.exception("worker refused: what it says can't be used", worker=member.card.name)
                welcome = False
            if welcome:
                used.append(member)
            else:
                self._refused |= {run}
        self._refused &= {member.card.run for member in members}
        return used

    def _fail_elsewhere(self, runs: Collection[str], why: Callable[[Given], Exception]) -> None:
        for given in self._tickets.elsewhere(runs):
            self._settle(given.ticket, lambda lost: lost.fail(why(lost)))

    def _heard(self, ticket: str, data: bytes) -> None:
        given = self._tickets.find(ticket)
        if given is not None:
            given.progress(data)

    def _answered(self, ticket: str, done: Future[Any]) -> None:
        """Take what dask brings: an answer, or that there will be none."""
        try:
            answer = read_answer(done.result())
        except (CancelledError, KilledWorker):
            # It is not there any more, whatever was seen of it last; should it come back, it is another run.
            self._settle(ticket, lambda given: self._lose(given, "it was lost", math.inf))
        except Exception as error:  # noqa: BLE001 - dask's, or what a worker's own code raised
            reason = f"{type(error).__name__}: {error}"
            self._settle(ticket, lambda given: self._lose(given, reason, _REST_SECONDS))
        else:
            self._settle(ticket, lambda given: self._tell(given, answer))

    def _settle(self, ticket: str, tell: Callable[[Given], None]) -> None:
        """Give the room back, and then say what came of a match; who comes second says nothing."""
        settled = self._tickets.settle(ticket)
        if settled is None:
            return
        given, answer = settled
        with self._lock:
            self._rooms.answered(given.run, given.seats)
        if answer is not None and not answer.done():
            answer.cancel()
        tell(given)

    def _tell(self, given: Given, answer: Answer) -> None:
        match answer:
            case Record(data):
                given.keep(data)
            case Dropped(reason):
                self._lose(given, reason, _REST_SECONDS)
            case Void(reason, host=True):
                self._rest(given.run, _REST_SECONDS)
                given.fail(HostFailed(f"worker {given.worker}: {reason}"))
            case Void(reason):
                given.fail(MatchVoid(f"worker {given.worker}: {reason}"))

    def _lose(self, given: Given, reason: str, seconds: float) -> None:
        self._rest(given.run, seconds)
        given.fail(WorkerLost(f"worker {given.worker}: {reason}"))

    def _rest(self, run: str, seconds: float) -> None:
        with self._lock:
            self._rooms.rest(run, time.monotonic() + seconds)


def _linked(link: Link | None) -> Link:
    if link is None:
        raise SchedulerAway("there is no connection to the scheduler")
    return link
