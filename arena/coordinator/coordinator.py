"""Keeps this host's slots busy with the store's matches."""

import queue
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import replace
from datetime import datetime
from typing import Final, Protocol

import structlog

from arena.admission import Gate
from arena.coordinator.check import RecordRefused
from arena.coordinator.finish import finish
from arena.coordinator.voids import VoidsInARow
from arena.launcher import Launcher, LauncherStopped, MatchVoid, SlotPool
from arena.match import RuntimeName, encode
from arena.services import HOUSE
from arena.store import Claim, FinishedMatch, MatchState, Store

_log = structlog.get_logger()

_POLL_SECONDS: Final = 0.5


class ArenaTrouble(Exception):
    """This host can't play matches. The text says why."""


class Watcher(Protocol):
    """Hears what becomes of matches, in the coordinator's thread."""

    def on_finished(self, match: FinishedMatch) -> None:
        """Take note that a match has been played and stored."""

    def on_voided(self, match: str, reason: str, *, quarantined: bool) -> None:
        """Take note that a match has failed for a fault of the arena, and waits again or is given up."""


class Coordinator:
    """Claims matches, has them played, and stores what came of them.

    Args:
        store: The queue and the results.
        launcher: Plays matches.
        runtime: What the launcher runs bots with; it plays no other matches.
        executor: Runs one call of the launcher a match.
        slots: The seats of this host.
        now: UTC.
        watcher: Hears what becomes of matches.
        gate: Whether matches with strangers' bots are played.

    Attributes:
        stopped: Whether :meth:`stop` has been called.
    """

    def __init__(  # noqa: PLR0913 - what a coordinator coordinates
        self,
        *,
        store: Store,
        launcher: Launcher,
        runtime: RuntimeName,
        executor: Executor,
        slots: SlotPool,
        now: Callable[[], datetime],
        watcher: Watcher,
        gate: Gate,
    ) -> None:
        self._store = store
        self._launcher = launcher
        self._runtime = runtime
        self._executor = executor
        self._slots = slots
        self._now = now
        self._watcher = watcher
        self._gate = gate
        self._done: queue.SimpleQueue[tuple[Claim, tuple[int, ...], Future[bytes]] | None] = (
            queue.SimpleQueue()
        )
        self._running = 0
        self._voids = VoidsInARow()
        self._next: Claim | None = None
        self.stopped = False

    def run(self, refill: Callable[[], bool]) -> None:
        """Play until there is nothing left, or :meth:`stop` is called.

        Args:
            refill: Called when no match waits, or only such that are not rated. It adds some, unless the
                ladder is paused, and returns True; False where that was all.

        Raises:
            ArenaTrouble: Match after match fails for a fault of the arena. What waits goes on waiting.
        """
        try:
            while not self.stopped:
                if self._voids.too_many:
                    raise ArenaTrouble(
                        f"{self._voids.count} matches in a row failed for faults of the arena, so it "
                        "stops; see above, mend that, and start it again"
                    )
                if not self._dispatch(refill):
                    if refill():
                        self._dispatch(refill)
                    elif not self._running:
                        return
                self._collect()
        finally:
            self._launcher.stop()
            while self._running:
                self._collect()
            self._store.writes.release_running()

    def stop(self) -> None:
        """End soon: what runs is thrown away and waits again. May be called from a signal handler."""
        self.stopped = True
        self._launcher.stop()
        self._done.put(None)

    def _dispatch(self, refill: Callable[[], bool]) -> bool:
        """Start matches while there are slots, and tell whether one waits for a slot."""
        while not self.stopped:
            self._next = self._next or self._store.writes.claim(
                self._now(), self._runtime, house_only=self._gate.house_only
            )
            if self._next is None:
                return False
            slots = self._slots.take(len(self._next.seats))
            if slots is None:
                return True
            self._submit(self._next, slots)
            rated, self._next = self._next.rated, None
            if not rated and not self._rated_wait():
                refill()  # so that the ladder has its turn, however much else is asked for
        return False

    def _rated_wait(self) -> bool:
        return bool(
            self._store.reads.waiting(self._runtime, house_only=self._gate.house_only, rated_only=True)
        )

    def _submit(self, claim: Claim, slots: tuple[int, ...]) -> None:
        limits = claim.spec.limits
        # The match may have been made where there were more cores.
        fitting = replace(claim.spec, limits=replace(limits, cpus=min(limits.cpus, self._slots.share)))
        future = self._executor.submit(self._launcher.play, encode(fitting), slots)
        self._running += 1
        future.add_done_callback(lambda done: self._done.put((claim, slots, done)))

    def _collect(self) -> None:
        """Wait for a match to end, for a little while, and store what came of it."""
        try:
            ended = self._done.get(timeout=_POLL_SECONDS)
        except queue.Empty:
            return
        if ended is None:
            return
        claim, slots, future = ended
        self._running -= 1
        self._slots.give_back(slots)
        self._settle(claim, future)

    def _settle(self, claim: Claim, future: Future[bytes]) -> None:
        try:
            finished = finish(claim, future.result(), self._now())
        except LauncherStopped:
            return
        except (MatchVoid, RecordRefused) as error:
            self._void(claim, str(error))
            return
        except Exception as error:  # noqa: BLE001 - see below
            # A defect of the arena's own must not take the other matches with it.
            _log.exception("match failed", match=claim.spec.match)
            self._void(claim, repr(error))
            return
        self._voids.reset()
        if self._store.writes.record(finished):
            self._watcher.on_finished(finished)
        else:
            _log.warning("result dropped", match=claim.spec.match, attempt=claim.spec.attempt)

    def _void(self, claim: Claim, reason: str) -> None:
        spec = claim.spec
        state = self._store.writes.void(spec.match, spec.attempt, reason, self._now())
        _log.error("match void", match=spec.match, attempt=spec.attempt, state=state, reason=reason)
        self._watcher.on_voided(spec.match, reason, quarantined=state is MatchState.QUARANTINED)
        self._voids.add(
            [source for source, seat in zip(spec.seats, claim.seats, strict=True) if seat.author != HOUSE]
        )
