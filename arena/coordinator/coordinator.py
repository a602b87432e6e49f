"""Keeps workers busy with the store's matches."""

import queue
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import structlog

from arena.admission import Gate
from arena.coordinator.given import Given, Playing
from arena.coordinator.live import SHOW_SECONDS, LiveMatches
from arena.coordinator.rests import RESTS, Rests
from arena.coordinator.settling import Settling
from arena.coordinator.watcher import Watcher
from arena.failpoints import reach
from arena.launcher.launcher import longest_seconds
from arena.match import RuntimeName, encode
from arena.recurring import Recurring
from arena.store import RENEW_SECONDS, Claim, DatabaseChanged, DatabaseUnavailable, MatchState, Store
from arena.workers.workers import Place, Workers

_log = structlog.get_logger()

_POLL_SECONDS: Final = 0.5
_START_SECONDS: Final = 120.0
"""Beside what its clocks allow a match may take so long, for images to be loaded and sandboxes to start."""


class ArenaTrouble(Exception):
    """This host can't play matches. The text says why."""


@dataclass(frozen=True, slots=True)
class _Expired:
    """Matches whose leases have run out, by id and attempt, and where they are now."""

    matches: Mapping[tuple[str, int], MatchState]


class Coordinator:
    """Claims matches, has them played, and stores what came of them.

    While the database can't be reached nothing is claimed, and what has been played is kept until it can.

    Args:
        name: Id of the installation. No other coordinator has it at the same time.
        store: The queue and the results.
        workers: They play the matches.
        runtime: What they run bots with; it plays no other matches.
        now: UTC.
        watcher: Hears what becomes of matches.
        gate: Whether matches with strangers' bots are played.
        rests: How long nothing is begun after a match has failed for a fault of the arena.

    Attributes:
        stopped: Whether :meth:`stop` has been called.
        draining: Whether :meth:`drain` has been called.
        ticked: When it last went round, in seconds of the monotonic clock.
    """

    def __init__(  # noqa: PLR0913 - what a coordinator coordinates
        self,
        *,
        name: str,
        store: Store,
        workers: Workers,
        runtime: RuntimeName,
        now: Callable[[], datetime],
        watcher: Watcher,
        gate: Gate,
        rests: Rests = RESTS,
    ) -> None:
        self._name = name
        self._store = store
        self._workers = workers
        self._runtime = runtime
        self._now = now
        self._watcher = watcher
        self._gate = gate
        self._news: queue.SimpleQueue[Playing | _Expired | None] = queue.SimpleQueue()
        self._ended: deque[Playing] = deque()
        self._given = Given()
        self._live = LiveMatches(store.live)
        self._settling = Settling(store, now, watcher, rests)
        self._unavailable = False
        self.stopped = False
        self.draining = False
        self.ticked = time.monotonic()

    def run(self, refill: Callable[[], bool]) -> None:
        """Play until there is nothing left, or :meth:`stop` or :meth:`drain` is called.

        Args:
            refill: Called when no match waits, or only such that are not rated. It adds some, unless the
                ladder is paused, and returns True; False where that was all.

        Raises:
            ArenaTrouble: Match after match fails for a fault of the arena, or a newer program has changed the
                database's tables. What waits goes on waiting.
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

    def stop(self) -> None:
        """End soon: what runs is thrown away and waits again. May be called from a signal handler."""
        self.stopped = True
        self._workers.stop()
        self._news.put(None)

    def drain(self) -> None:
        """Begin nothing new, and end when what runs has been played and stored. As :meth:`stop`."""
        self.draining = True
        self._news.put(None)

    def _turn(self, refill: Callable[[], bool]) -> bool:
        """Store what ended, start what can be, and wait for news; tell whether there is more to do."""
        try:
            self._store_ended()
            voids = self._settling.voids
            if voids.too_many(len(self._workers.status())):
                raise ArenaTrouble(
                    f"{voids.count} matches in a row failed for faults of the arena, so it "
                    "stops; see above, mend that, and start it again"
                )
            resting = self._settling.resting.matches(time.monotonic())
            if self.draining:
                if not self._given:
                    return False
            elif not self._dispatch(refill):
                if refill():
                    self._dispatch(refill)
                elif not (self._given or resting):
                    return False
            self._note_database(None)
        except DatabaseUnavailable as error:
            self._note_database(error)
        except DatabaseChanged as error:
            raise ArenaTrouble(str(error)) from error
        self._hear()
        return True

    def _end(self) -> None:
        """Throw away what still runs, store what was played, and let the rest wait again."""
        self._workers.stop()
        try:
            self._store_ended()
            while self._given:
                self._hear()
                self._store_ended()
            reach("releasing")
            self._store.leases.release(self._name)
        except DatabaseUnavailable as error:
            _log.error("what ran is played again: the database can't be reached", error=str(error))
        except DatabaseChanged as error:
            _log.error("what ran is played again, by a newer program", error=str(error))

    def _dispatch(self, refill: Callable[[], bool]) -> bool:
        """Start matches while there is room, and tell whether one waits for that, or while all rest."""
        while not (self.stopped or self.draining):
            house_only = self._gate.house_only
            now, resting = time.monotonic(), self._settling.resting
            if resting.all_rest(now):
                return self._store.leases.due(self._runtime, house_only=house_only) is not None
            rest = resting.matches(now)
            seats = self._store.leases.due(self._runtime, house_only=house_only, without=rest)
            if seats is None:
                return False
            place = self._workers.take(seats)
            if place is None:
                return True
            claim = self._claim(place, house_only=house_only, without=rest)
            if claim is None:
                return True  # others are claiming all that wait; who is slow at it must not hold this one up
            reach("claimed")
            self._submit(claim, place)
            if not claim.rated and not self._rated_wait():
                refill()  # so that the ladder has its turn, however much else is asked for
            if not self._news.empty():
                return True  # it is heard first: where all fails at once, nothing more is to begin
        return False

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
            self._store.reads.waiting(self._runtime, house_only=self._gate.house_only, rated_only=True)
        )

    def _submit(self, claim: Claim, place: Place) -> None:
        limits = claim.spec.limits
        # The match may have been made where there were more cores.
        fitting = replace(claim.spec, limits=replace(limits, cpus=min(limits.cpus, place.cpus)))
        deadline = time.monotonic() + longest_seconds(fitting) + _START_SECONDS
        future = place.play(encode(fitting), lambda data: self._live.hear(claim, data))
        playing = Playing(claim, place, future, deadline)
        self._given.add(playing)
        future.add_done_callback(lambda _: self._news.put(playing))
        _log.info("match started", match=claim.spec.match, attempt=claim.spec.attempt, worker=place.worker)
        self._watcher.on_started(claim, place.worker)
        reach("submitted")

    def _keep_leases(self) -> None:
        """Give a sign of life, and look for others who give none. In a thread of its own."""
        kept = self._given.matches
        self._store.leases.renew(self._name, kept)
        if expired := self._store.leases.expire(self._now()):
            self._news.put(_Expired(expired))
        self._watcher.on_leases_kept(len(kept), len(expired))
        # Last, since it is only shown: whatever may be wrong with it, or hold it up, costs no match.
        self._store.leases.tell(self._name, self._workers.status())

    def _hear(self) -> None:
        """Wait for news, for a little while."""
        try:
            news = self._news.get(timeout=_POLL_SECONDS)
        except queue.Empty:
            news = None
        if isinstance(news, _Expired):
            self._note_expired(news)
        elif news is not None and news in self._given and news not in self._ended:
            self._ended.append(news)
        late = self._given.late(time.monotonic())
        self._ended.extend(playing for playing in late if playing not in self._ended)

    def _note_expired(self, expired: _Expired) -> None:
        for (match, attempt), state in expired.matches.items():
            _log.warning("lease expired", match=match, attempt=attempt, state=state)
            given_up = state is MatchState.QUARANTINED
            self._watcher.on_lost(match, attempt, "its lease ran out", quarantined=given_up)

    def _store_ended(self) -> None:
        while self._ended:
            self._settling.settle(self._ended[0])
            self._given.discard(self._ended.popleft())

    def _note_database(self, error: DatabaseUnavailable | None) -> None:
        """Say it once when the database goes away, and once when it is back."""
        if error is not None and not self._unavailable:
            _log.error("the database can't be used; it is tried again until it can", error=str(error))
        elif error is None and self._unavailable:
            _log.info("the database can be used again")
        self._unavailable = error is not None
