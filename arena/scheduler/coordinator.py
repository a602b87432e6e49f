"""Keeps workers busy with queued matches."""

import queue
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

import structlog

from arena.db.errors import DatabaseChanged, DatabaseUnavailable
from arena.db.leases import RENEW_SECONDS
from arena.db.matches import Claim
from arena.db.store import Store
from arena.platform.environment import failpoint
from arena.platform.periodic import PeriodicTask
from arena.play.launcher.launcher import longest_seconds
from arena.protocol.match import RuntimeName, encode
from arena.protocol.sandbox_controls import Gate
from arena.protocol.states import MatchState
from arena.scheduler.live import PUBLISH_SECONDS, LiveMatches
from arena.scheduler.settling import (
    RETRY_DELAYS,
    AttemptFailed,
    LeasesRenewed,
    MatchSettler,
    MatchStarted,
    RetryDelays,
    RunningMatch,
    Watcher,
)
from arena.scheduler.workers import Reservation, Workers

_log = structlog.get_logger()

_POLL_SECONDS: Final = 0.5
_PROGRAM_CHECK_SECONDS: Final = 2.0
"""Interval between checks of the program's files."""

_START_SECONDS: Final = 120.0
"""Seconds allowed for loading images and starting sandboxes, in addition to the time on a match's clocks."""


class ArenaError(Exception):
    """The arena can't continue to play matches; the message says why."""


class Coordinator:
    """Claims matches, hands them to workers and stores their results.

    While the database is unavailable, a coordinator claims no matches and keeps the results of
    finished matches in memory.

    Only matches for ``runtime`` are claimed. ``name`` is the installation's id, unique among running
    coordinators. ``now`` returns the time in UTC. ``program_changed`` returns whether the program's files
    have changed since this process started. ``has_room`` returns whether the disk has room for results.
    """

    def __init__(  # noqa: PLR0913 - everything that a coordinator needs
        self,
        *,
        name: str,
        store: Store,
        workers: Workers,
        runtime: RuntimeName,
        now: Callable[[], datetime],
        gate: Gate,
        watchers: Sequence[Watcher] = (),
        delays: RetryDelays = RETRY_DELAYS,
        program_changed: Callable[[], bool] = lambda: False,
        has_room: Callable[[], bool] = lambda: True,
    ) -> None:
        self._name = name
        self._store = store
        self._workers = workers
        self._runtime = runtime
        self._now = now
        self._gate = gate
        self._events: queue.SimpleQueue[RunningMatch | AttemptFailed | None] = queue.SimpleQueue()
        self._ended: deque[RunningMatch] = deque()
        # Replaced, never modified, because the thread that renews leases reads it.
        self._in_flight: frozenset[RunningMatch] = frozenset()
        self._live = LiveMatches(store.live)
        self._settling = MatchSettler(store, now, watchers, delays)
        self._unavailable = False
        self._has_program_changed = program_changed
        self._program_changed = False
        self._has_room = has_room
        self._disk_full = False
        self._program_checked_at = time.monotonic()
        self.stopped = False
        self.draining = False
        self.last_tick = time.monotonic()  # when the main loop last ran, in seconds of the monotonic clock

    def run(self, refill: Callable[[], bool]) -> None:
        """Play until no matches are left, or until :meth:`stop` or :meth:`drain` is called.

        ``refill`` is called when no rated match is due. It adds matches unless the ladder is paused, and
        returns False when no more will be added. Raises ArenaError if the program's files changed, a newer
        program changed the database's tables, or too many matches in a row failed because of arena faults.
        In these cases, queued matches stay queued.
        """
        leases = PeriodicTask(
            self._renew_leases,
            name="leases",
            seconds=RENEW_SECONDS,
            expected=(DatabaseChanged, DatabaseUnavailable),
        )
        live = PeriodicTask(
            self._live.publish, name="live games", seconds=PUBLISH_SECONDS, expected=(DatabaseUnavailable,)
        )
        with leases, live:
            try:
                while not self.stopped and self._step(refill):
                    self.last_tick = time.monotonic()
            finally:
                self._shut_down()
        if self._program_changed:
            raise ArenaError(
                "the program's files have changed since it started. Running matches have finished, and no "
                "new ones will start: restart the arena to continue with the new version"
            )

    def stop(self) -> None:
        """Abort running matches, requeue them and stop. Safe in a signal handler, as it takes no lock."""
        self.stopped = True
        self._events.put(None)

    def drain(self) -> None:
        """Start no new matches; stop once the running ones are settled. Safe in a signal handler."""
        self.draining = True
        self._events.put(None)

    def _step(self, refill: Callable[[], bool]) -> bool:
        """Store results, start matches, and wait for an event; return whether there is more to do."""
        try:
            self._store_ended()
            voids = self._settling.voids
            if voids.too_many(len(self._workers.status())):
                raise ArenaError(
                    f"stopped after {voids.count} matches in a row failed because of arena faults: "
                    "fix the cause logged above, then restart"
                )
            in_backoff = self._settling.backoff.matches(time.monotonic())
            if time.monotonic() - self._program_checked_at > _PROGRAM_CHECK_SECONDS:
                self._check_program()
            if self.draining:
                if not self._in_flight:
                    return False
            elif not self._dispatch(refill):
                if refill():
                    self._dispatch(refill)
                elif not (self._in_flight or in_backoff):
                    return False
            self._log_database_state(None)
        except DatabaseUnavailable as error:
            self._log_database_state(error)
        except DatabaseChanged as error:
            raise ArenaError(str(error)) from error
        self._wait_for_event()
        return True

    def _shut_down(self) -> None:
        """Abort running matches, store finished ones and requeue the rest."""
        self._workers.stop()
        try:
            self._store_ended()
            while self._in_flight:
                self._wait_for_event()
                self._store_ended()
            failpoint("releasing")
            self._store.leases.release(self._name)
        except DatabaseUnavailable as error:
            _log.error("running matches abandoned", reason="database unreachable", error=str(error))
        except DatabaseChanged as error:
            _log.error("running matches abandoned", reason="newer program", error=str(error))

    def _dispatch(self, refill: Callable[[], bool]) -> bool:
        """Start matches while there is capacity; return False if no match is due."""
        while not (self.stopped or self.draining):
            house_only = self._gate.house_only
            now, backoff = time.monotonic(), self._settling.backoff
            if backoff.blocks_all(now):
                return self._store.leases.due(self._runtime, house_only=house_only) is not None
            failed = backoff.matches(now)
            seats = self._store.leases.due(self._runtime, house_only=house_only, without=failed)
            if seats is None:
                return False
            reservation = self._reserve(seats)
            if reservation is None:
                return True
            claim = self._claim(reservation, house_only=house_only, without=failed)
            if claim is None:
                return True  # other coordinators claimed every match; don't loop here
            failpoint("claimed")
            self._submit(claim, reservation)
            if not claim.rated and not self._has_waiting_rated():
                refill()  # unrated matches must not starve the ladder
            if not self._events.empty():
                return True  # handle the event first: no match may start after too many failures in a row
        return False

    def _reserve(self, seats: int) -> Reservation | None:
        """Reserve seats, unless the disk is full."""
        full = not self._has_room()
        if full and not self._disk_full:
            _log.error(
                "disk full", then="no match will start until disk space is freed (ARENA_DISK_FLOOR_GIB)"
            )
        elif self._disk_full and not full:
            _log.info("disk space recovered")
        self._disk_full = full
        return None if full else self._workers.reserve(seats)

    def _claim(self, reservation: Reservation, *, house_only: bool, without: Collection[str]) -> Claim | None:
        claim = None
        try:
            claim = self._store.leases.claim(
                self._name,
                reservation.worker,
                self._now(),
                self._runtime,
                max_seats=reservation.seats,
                house_only=house_only,
                without=without,
            )
        finally:
            if claim is None:
                reservation.release()
        return claim

    def _has_waiting_rated(self) -> bool:
        return bool(
            self._store.queue.waiting(self._runtime, house_only=self._gate.house_only, rated_only=True)
        )

    def _submit(self, claim: Claim, reservation: Reservation) -> None:
        limits = claim.spec.limits
        # The match may have been created on a host with more cores.
        fitting = replace(claim.spec, limits=replace(limits, cpus=min(limits.cpus, reservation.cpus)))
        deadline = time.monotonic() + longest_seconds(fitting) + _START_SECONDS
        future = reservation.play(encode(fitting), lambda data: self._live.add(claim, data))
        playing = RunningMatch(claim, reservation, future, deadline)
        self._in_flight |= {playing}
        future.add_done_callback(lambda _: self._events.put(playing))
        _log.info(
            "match started", match=claim.spec.match, attempt=claim.spec.attempt, worker=reservation.worker
        )
        self._settling.notify(MatchStarted(claim, reservation.worker))
        failpoint("submitted")

    def _renew_leases(self) -> None:
        """Renew this coordinator's leases, and expire those of dead coordinators. Runs in its own thread."""
        matches = frozenset(playing.claim.spec.match for playing in self._in_flight)
        self._store.leases.renew(self._name, matches)
        expired = self._store.leases.expire(self._now())
        for (match, attempt), state in expired.items():
            _log.warning("lease expired", match=match, attempt=attempt, state=state)
            quarantined = state is MatchState.QUARANTINED
            why = "its lease expired"
            self._events.put(AttemptFailed(match, attempt, why, lost=True, quarantined=quarantined))
        self._settling.notify(LeasesRenewed(len(matches), len(expired)))
        # Last, because this data is only displayed: a failure or delay here doesn't affect matches.
        self._store.leases.publish_workers(self._name, self._workers.status(), self._workers.refused())

    def _wait_for_event(self) -> None:
        """Wait briefly for an event, and note the matches that have ended or are late."""
        try:
            event = self._events.get(timeout=_POLL_SECONDS)
        except queue.Empty:
            event = None
        if isinstance(event, AttemptFailed):
            self._settling.notify(event)
        elif event is not None and event in self._in_flight and event not in self._ended:
            self._ended.append(event)
        now = time.monotonic()
        late = [
            playing for playing in self._in_flight if playing.deadline < now and playing not in self._ended
        ]
        self._ended.extend(late)

    def _store_ended(self) -> None:
        while self._ended:
            if not self._failed_because_program_changed(self._ended[0]):
                self._settling.settle(self._ended[0])
            self._in_flight -= {self._ended.popleft()}

    def _failed_because_program_changed(self, playing: RunningMatch) -> bool:
        """Return True if a match failed because the program changed. Such an attempt doesn't count."""
        if playing.has_record:
            return False
        self._check_program()
        return self._program_changed

    def _check_program(self) -> None:
        self._program_checked_at = time.monotonic()
        if not self._program_changed and self._has_program_changed():
            _log.error("program changed", then="running matches will finish, and no new ones will start")
            self._program_changed = True
            self.drain()

    def _log_database_state(self, error: DatabaseUnavailable | None) -> None:
        """Log once when the database becomes unavailable, and once when it is back."""
        if error is not None and not self._unavailable:
            _log.error("database unavailable", error=str(error))
        elif error is None and self._unavailable:
            _log.info("database available")
        self._unavailable = error is not None
