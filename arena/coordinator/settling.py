"""What becomes of a match that somebody has played, or failed to play."""

import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError
from datetime import datetime
from typing import Protocol

import structlog

from arena.coordinator.check import RecordRefused
from arena.coordinator.finish import finish
from arena.coordinator.given import Playing
from arena.coordinator.rests import Resting, Rests
from arena.coordinator.voids import VoidsInARow
from arena.coordinator.watcher import Watcher
from arena.failpoints import reach
from arena.launcher import HostFailed, LauncherStopped, MatchVoid
from arena.services import HOUSE
from arena.store import Claim, MatchState, Store, StoreError
from arena.workers.workers import Verdict, WorkerLost

_log = structlog.get_logger()


class _Failed(Protocol):
    """What a watcher hears of an attempt that has failed."""

    def __call__(self, match: str, attempt: int, reason: str, *, quarantined: bool) -> None:
        """See :class:`arena.coordinator.watcher.Watcher`."""


class Settling:
    """Believes, stores and tells what came of matches; only the current attempt's counts.

    Args:
        store: The queue and the results.
        now: UTC.
        watcher: Hears of it.
        rests: How long matches rest that failed.

    Attributes:
        voids: How many failed since one was last played.
        resting: What rests for it.
    """

    def __init__(self, store: Store, now: Callable[[], datetime], watcher: Watcher, rests: Rests) -> None:
        self._store = store
        self._now = now
        self._watcher = watcher
        self.voids = VoidsInARow()
        self.resting = Resting(rests)

    def settle(self, playing: Playing) -> None:
        """Store its record, or let it wait again with the reason.

        Raises:
            StoreError: The database can't be used; then nothing has been changed, and it can be tried again.
        """
        claim = playing.claim
        try:
            record = playing.record()
            reach("record-received")
            finished = finish(claim, record, self._now())
            reach("record-checked")
            stored = self._store.writes.record(finished)
        except StoreError:
            raise  # the match is not to blame: it is stored when the database can be used
        except LauncherStopped:
            return
        except (WorkerLost, HostFailed, BrokenExecutor, CancelledError) as error:
            self._lose(claim, str(error) or f"worker {playing.place.worker} was lost")
            playing.place.judge(Verdict.LOST)
            return
        except MatchVoid as error:
            self._void(playing, str(error))
            return
        except RecordRefused as error:
            self._void(playing, f"worker {playing.place.worker}: {error}")
            return
        except Exception as error:  # noqa: BLE001 - see below
            # A defect of the arena's own, or what a record has in it, must not take other matches with it.
            _log.exception("match failed", match=claim.spec.match, attempt=claim.spec.attempt)
            self._void(playing, repr(error))
            return
        playing.place.judge(Verdict.BELIEVED)
        self.voids.reset()
        self.resting.play(claim.spec.match)
        if stored:
            reach("recorded")
            _log.info(
                "match stored", match=finished.match, attempt=finished.attempt, games=len(finished.games)
            )
            self._watcher.on_finished(finished)
        else:
            self._drop(claim)

    def _void(self, playing: Playing, reason: str) -> None:
        claim, spec = playing.claim, playing.claim.spec
        state = self._store.leases.void(spec.match, spec.attempt, reason, self._now())
        self._tell("match void", self._watcher.on_voided, claim, state, reason)
        self.voids.add(
            [source for source, seat in zip(spec.seats, claim.seats, strict=True) if seat.author != HOUSE],
            playing.place.worker,
        )
        self._rest(spec.match, state)
        playing.place.judge(Verdict.SPOILT)

    def _rest(self, match: str, state: MatchState | None) -> None:
        self.resting.fail(match, self.voids.count, time.monotonic())
        if state is not MatchState.WAITING:
            self.resting.forget(match)

    def _lose(self, claim: Claim, reason: str) -> None:
        spec = claim.spec
        state = self._store.leases.lose(spec.match, spec.attempt, reason, self._now())
        self._tell("match lost", self._watcher.on_lost, claim, state, reason)

    def _tell(self, event: str, tell: _Failed, claim: Claim, state: MatchState | None, reason: str) -> None:
        """Say that an attempt has failed, and where its match is now; None where it was over before."""
        spec = claim.spec
        _log.error(event, match=spec.match, attempt=spec.attempt, state=state, reason=reason)
        if state is None:
            self._drop(claim)
        else:
            tell(spec.match, spec.attempt, reason, quarantined=state is MatchState.QUARANTINED)

    def _drop(self, claim: Claim) -> None:
        """Say that an attempt was over before anything came of it."""
        _log.warning("result dropped", match=claim.spec.match, attempt=claim.spec.attempt)
        self._watcher.on_dropped(claim.spec.match, claim.spec.attempt)
