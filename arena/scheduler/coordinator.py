"""Keeps workers busy with the store's matches."""

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
from arena.platform.environment import reach
from arena.platform.recurring import Recurring
from arena.play.launcher.launcher import longest_seconds
from arena.protocol.controls import Gate
from arena.protocol.match import RuntimeName, encode
from arena.protocol.states import MatchState
from arena.scheduler.live import SHOW_SECONDS, LiveMatches
from arena.scheduler.settling import (
    RETRY_DELAYS,
    AttemptFailed,
    LeasesKept,
    MatchStarted,
    Playing,
    RetryDelays,
    Settling,
    Watcher,
)
from arena.scheduler.workers import Place, Workers

_log = structlog.get_logger()

_POLL_SECONDS: Final = 0.5
_LOOK_SECONDS: Final = 2.0
"""Interval between checks of the program's files."""

_START_SECONDS: Final = 120.0
"""Seconds allowed beyond a match's clocks, to load images and start sandboxes."""


class ArenaTrouble(Exception):
    """The arena can't continue to play matches; the message says why."""


class Coordinator:
    """Claims matches, hands them to workers and stores their results.

    While the database is unreachable, it claims no matches and keeps finished results in memory.

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
        self._news: queue.SimpleQueue[Playing | AttemptFailed | None] = queue.SimpleQueue()
        self._ended: deque[Playing] = deque()
        # Replaced, never modified, because the thread that renews leases reads it.
        self._given: frozenset[Playing] = frozenset()
        self._live = LiveMatches(store.live)
        self._settling = Settling(store, now, watchers, delays)
        self._unavailable = False
        self._has_program_changed = program_changed
        self._program_changed = False
        self._has_room = has_room
        self._full = False
        self._looked = time.monotonic()
        self.stopped = False
        self.draining = False
        self.ticked = time.monotonic()  # when the main loop last ran, in seconds of the monotonic clock

    def run(self, refill: Callable[[], bool]) -> None:
        """Play until no match is left, or :meth:`stop` or :meth:`drain` is called.

        ``refill`` is called when no rated match is queued. It adds matches unless the ladder is paused, and
        returns False when no matches are left to play. Raises ArenaTrouble, leaving queued matches queued, if
        too many matches in a row failed because of arena faults, a newer program changed the database's
        tables, or the program's files changed.
        """
        leases = Recurring(
            self._keep_leases,
            name="leases",
            seconds=RENEW_SECONDS,
            expected=(DatabaseChanged, DatabaseUnavailable),
        )
        live = Recurring(
            self._live.show, name="live games", seconds=SHOW_SECONDS, expected=(DatabaseUnavailable,)
        )
        with leases, live:
            try:
                while not self.stopped and self._turn(refill):
                    self.ticked = time.monotonic()
            finally:
                self._end()
        if self._program_changed:
            raise ArenaTrouble(
                "the program's files have changed since it started. Running matches were finished and no "
                "new ones will start: restart the arena to continue with the new version"
            )

    def stop(self) -> None:
        """Abort running matches, requeue them and stop. Safe to call from a signal handler."""
        self.stopped = True
        self._workers.stop()
        self._news.put(None)

    def drain(self) -> None:
        """Start no new matches; stop when the running ones are stored. Safe in a signal handler."""
        self.draining = True
        self._news.put(None)

    def _turn(self, refill: Callable[[], bool]) -> bool:
        """Store results, start matches, and wait for an event; return whether there is more to do."""
        try:
            self._store_ended()
            voids = self._settling.voids
            if voids.too_many(len(self._workers.status())):
                raise ArenaTrouble(
                    f"stopped after {voids.count} matches in a row failed because of arena faults: "
                    "fix the cause logged above, then restart"
                )
            in_backoff = self._settling.backoff.matches(time.monotonic())
            if time.monotonic() - self._looked > _LOOK_SECONDS:
                self._look_at_program()
            if self.draining:
                if not self._given:
                    return False
            elif not self._dispatch(refill):
                if refill():
                    self._dispatch(refill)
                elif not (self._given or in_backoff):
                    return False
            self._note_database(None)
        except DatabaseUnavailable as error:
            self._note_database(error)
        except DatabaseChanged as error:
            raise ArenaTrouble(str(error)) from error
        self._hear()
        return True

    def _end(self) -> None:
        """Abort running matches, store finished ones and requeue the rest."""
        self._workers.stop()
        try:
            self._store_ended()
            while self._given:
                self._hear()
                self._store_ended()
            reach("releasing")
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
            if backoff.holds_all(now):
                return self._store.leases.due(self._runtime, house_only=house_only) is not None
            failed = backoff.matches(now)
            seats = self._store.leases.due(self._runtime, house_only=house_only, without=failed)
            if seats is None:
                return False
            place = self._place(seats)
            if place is None:
                return True
            claim = self._claim(place, house_only=house_only, without=failed)
            if claim is None:
                return True  # other coordinators claimed every match; don't loop here
            reach("claimed")
            self._submit(claim, place)
            if not claim.rated and not self._rated_wait():
                refill()  # unrated matches must not starve the ladder
            if not self._news.empty():
                return True  # handle the event first: no match may start after too many failures in a row
        return False

    def _place(self, seats: int) -> Place | None:
        """Reserve seats, unless the disk is full."""
        full = not self._has_room()
        if full and not self._full:
            _log.error(
                "disk full", then="no match will start until disk space is freed (ARENA_DISK_FLOOR_GIB)"
            )
        elif self._full and not full:
            _log.info("disk space recovered")
        self._full = full
        return None if full else self._workers.take(seats)

    def _claim(self, place: Place, *, house_only: bool, without: Collection[str]) -> Claim | None:
        claim = None
        try:
            claim = self._store.leases.claim(
                self._name,
                place.worker,
                self._now(),
                self._runtime,
                most=place.seats,
                house_only=house_only,
                without=without,
            )
        finally:
            if claim is None:
                place.give_back()
        return claim

    def _rated_wait(self) -> bool:
        return bool(
            self._store.queue.waiting(self._runtime, house_only=self._gate.house_only, rated_only=True)
        )

    def _submit(self, claim: Claim, place: Place) -> None:
        limits = claim.spec.limits
        # The match may have been created on a host with more cores.
        fitting = replace(claim.spec, limits=replace(limits, cpus=min(limits.cpus, place.cpus)))
        deadline = time.monotonic() + longest_seconds(fitting) + _START_SECONDS
        future = place.play(encode(fitting), lambda data: self._live.hear(claim, data))
        playing = Playing(claim, place, future, deadline)
        self._given |= {playing}
        future.add_done_callback(lambda _: self._news.put(playing))
        _log.info("match started", match=claim.spec.match, attempt=claim.spec.attempt, worker=place.worker)
        self._settling.tell(MatchStarted(claim, place.worker))
        reach("submitted")

    def _keep_leases(self) -> None:
        """Renew this coordinator's leases, and expire dead coordinators' leases. Runs in its own thread."""
        kept = frozenset(playing.claim.spec.match for playing in self._given)
        self._store.leases.renew(self._name, kept)
        expired = self._store.leases.expire(self._now())
        for (match, attempt), state in expired.items():
            _log.warning("lease expired", match=match, attempt=attempt, state=state)
            given_up = state is MatchState.QUARANTINED
            why = "its lease expired"
            self._news.put(AttemptFailed(match, attempt, why, lost=True, quarantined=given_up))
        self._settling.tell(LeasesKept(len(kept), len(expired)))
        # Last, because this data is only displayed: a failure or delay here costs no match.
        self._store.leases.tell(self._name, self._workers.status(), self._workers.refused())

    def _hear(self) -> None:
        """Wait briefly for an event."""
        try:
            news = self._news.get(timeout=_POLL_SECONDS)
        except queue.Empty:
            news = None
        if isinstance(news, AttemptFailed):
            self._settling.tell(news)
        elif news is not None and news in self._given and news not in self._ended:
            self._ended.append(news)
        now = time.monotonic()
        late = [playing for playing in self._given if playing.deadline < now and playing not in self._ended]
        self._ended.extend(late)

    def _store_ended(self) -> None:
        while self._ended:
            if not self._failed_by_change(self._ended[0]):
                self._settling.settle(self._ended[0])
            self._given -= {self._ended.popleft()}

    def _failed_by_change(self, playing: Playing) -> bool:
        """Return True if a match failed because the program changed. Such an attempt doesn't count."""
        if playing.has_record:
            return False
        self._look_at_program()
        return self._program_changed

    def _look_at_program(self) -> None:
        self._looked = time.monotonic()
        if not self._program_changed and self._has_program_changed():
            _log.error("program changed", then="running matches will finish, and no new ones will start")
            self._program_changed = True
            self.drain()

    def _note_database(self, error: DatabaseUnavailable | None) -> None:
        """Log once when the database becomes unavailable, and once when it is back."""
        if error is not None and not self._unavailable:
            _log.error("database unavailable", error=str(error))
        elif error is None and self._unavailable:
            _log.info("database available")
        self._unavailable = error is not None
