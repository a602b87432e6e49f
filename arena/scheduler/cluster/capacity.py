"""Tracks the free capacity of workers: what each last reported, minus the matches sent since. Does no I/O."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from arena.platform.periodic import Backoff
from arena.protocol.match import WorkerStatus
from arena.scheduler.cluster.messages import NO_SESSION, WorkerCard, WorkerState


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterMember:
    """A worker, as reported by the scheduler."""

    address: str
    card: WorkerCard  # sent when it joined
    state: WorkerState  # sent with the latest heartbeat


BACKOFF: Final = Backoff(first=4.0, maximum=30.0)
"""Backoff of a worker after consecutive failures, during which its reported state is not trusted. It grows
because a broken worker may always report that it has recovered, and have the most free seats."""


@dataclass(frozen=True, slots=True)
class _Worker:
    """The capacity of an admitted worker."""

    member: ClusterMember
    in_flight: int = 0  # seats of this coordinator's matches in flight
    # Seats of matches whose records this coordinator has not checked yet. They count as in use, because
    # otherwise a worker that instantly returns bad records could void the whole queue before the first check.
    unchecked: int = 0
    failures: int = 0  # number of failures since its last valid match
    backoff_until: float = 0.0  # end of the worker's backoff after a failure
    # None unless the worker is on probation after a void match. Until this time, it gets no matches that
    # other workers could play; afterwards, it gets one match at a time. Without probation, one worker could
    # get a match quarantined.
    probation_until: float | None = None

    def busy(self, session: str) -> int:
        """Return the number of seats in use.

        For this session, the coordinator's own count is newer than the one in the heartbeat.
        """
        return min(self.in_flight + self._seats_of_others(session), self.member.card.seats)

    def free(self, session: str) -> int:
        taken = self._seats_of_others(session) + max(self.in_flight, self.unchecked)
        left = self.member.state.busy.get(NO_SESSION, 0)  # in use, but not by a match
        usable = self.member.state.usable
        # An idle worker with at least one usable seat may use all of its seats, so that any table fits.
        if usable is None or (usable and taken == left):
            return self.member.card.seats - taken
        return min(usable, self.member.card.seats - left) - (taken - left)

    def accepts_matches(self, now: float) -> bool:
        return self.member.state.takes_matches and self.backoff_until <= now

    def is_expected_to_play(self, seats: int) -> bool:
        """Return True if nothing but other matches, or a backoff, keeps the worker from playing a match."""
        return (
            self.probation_until is None
            and self.member.card.seats >= seats
            and self.member.state.takes_matches
            and self.backoff_until < math.inf
        )

    def trusted(self, now: float) -> bool:
        """Return True if the worker may get matches that other workers could play."""
        return self.probation_until is None or (self.probation_until <= now and not self.unchecked)

    def _seats_of_others(self, session: str) -> int:
        return sum(seats for whose, seats in self.member.state.busy.items() if whose != session)


class ClusterCapacity:
    """The capacity of all admitted workers, for one coordinator session. Not thread-safe."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._workers: dict[str, _Worker] = {}

    def __contains__(self, run: str) -> bool:
        return run in self._workers

    def update(self, members: Iterable[ClusterMember]) -> None:
        """Replace the workers with these admitted members, keeping the data on known ones."""
        self._workers = {
            member.card.run: replace(self._workers.get(member.card.run, _Worker(member)), member=member)
            for member in members
        }

    def reserve(self, seats: int, now: float) -> ClusterMember | None:
        """Reserve seats on the worker with the most free seats, or return None if no worker has enough.

        ``now`` is in seconds of a monotonic clock.
        """
        candidates = {run: worker for run, worker in self._workers.items() if worker.accepts_matches(now)}
        # If a worker that isn't on probation has enough seats, wait for it, even if it is busy or in backoff.
        if any(worker.is_expected_to_play(seats) for worker in self._workers.values()):
            candidates = {run: worker for run, worker in candidates.items() if worker.trusted(now)}
        free = {run: worker.free(self._session) for run, worker in candidates.items()}
        run = max(free, key=free.__getitem__, default=None)
        if run is None or free[run] < seats:
            return None
        self._count(run, in_flight=seats, unchecked=seats)
        return self._workers[run].member

    def release(self, run: str, seats: int) -> None:
        """Release unused seats. This and the methods below ignore workers that have left."""
        self._count(run, in_flight=-seats, unchecked=-seats)

    def mark_answered(self, run: str, seats: int) -> None:
        """Release a match's seats after its worker has answered."""
        self._count(run, in_flight=-seats)

    def mark_checked(self, run: str, seats: int) -> None:
        """Record that the coordinator has checked a match."""
        self._count(run, unchecked=-seats)

    def back_off(self, run: str, now: float) -> None:
        """Send a worker no matches for a while after a failure. Failures during a backoff count as one."""
        if run in self._workers:
            worker = self._workers[run]
            failures = worker.failures + (worker.backoff_until <= now)
            until = max(worker.backoff_until, now + BACKOFF.after(failures))
            self._change(run, failures=failures, backoff_until=until)

    def abandon(self, run: str) -> None:
        """Send a worker no more matches. If it comes back, it has a new run id."""
        self._change(run, backoff_until=math.inf)

    def put_on_probation(self, run: str, until: float) -> None:
        """Until this time, send a worker no matches that others could play; then send one at a time."""
        self._change(run, probation_until=until)

    def trust(self, run: str) -> None:
        """End a worker's probation after a valid match, and reset its backoff."""
        self._change(run, probation_until=None, failures=0)

    def on_probation(self, run: str) -> bool:
        """Return True if a worker is on probation."""
        return run in self._workers and self._workers[run].probation_until is not None

    def unavailable_reason(self) -> str | None:
        """Return why no worker accepts matches, or None if one does."""
        members = [worker.member for worker in self._workers.values()]
        if not members:
            return "no admitted worker is connected"
        if any(member.state.takes_matches for member in members):
            return None
        reasons = sorted({f"{member.card.name}: {member.state.trouble or 'leaving'}" for member in members})
        return f"no worker accepts matches: {', '.join(reasons)}"

    def status(self) -> tuple[WorkerStatus, ...]:
        """Return the status of each worker, sorted by name."""
        known = (
            WorkerStatus(
                name=worker.member.card.name,
                host=worker.member.card.host,
                seats=worker.member.card.seats,
                busy=worker.busy(self._session),
                doubted=worker.probation_until is not None,
                usable=worker.member.state.usable,
            )
            for worker in self._workers.values()
        )
        return tuple(sorted(known, key=lambda worker: worker.name))

    def _count(self, run: str, *, in_flight: int = 0, unchecked: int = 0) -> None:
        if run in self._workers:
            worker = self._workers[run]
            # Don't go below 0: the match may have been sent before the worker disappeared and came back.
            in_flight = max(0, worker.in_flight + in_flight)
            unchecked = max(0, worker.unchecked + unchecked)
            self._change(run, in_flight=in_flight, unchecked=unchecked)

    def _change(self, run: str, **changes: Any) -> None:  # noqa: ANN401 - fields of `_Worker`
        if run in self._workers:
            self._workers[run] = replace(self._workers[run], **changes)
