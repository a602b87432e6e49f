"""Settles matches: stores records, retries failed matches after a backoff, and notifies watchers."""

import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog

from arena.db.errors import StoreError
from arena.db.matches import Claim, FinishedMatch
from arena.db.store import Store
from arena.platform.environment import failpoint
from arena.platform.names import HOUSE
from arena.platform.periodic import Backoff
from arena.play.launcher import HostFailed, LauncherStopped, MatchVoid
from arena.protocol.states import MatchState
from arena.scheduler.check import RecordRefused, verified_match
from arena.scheduler.workers import Reservation, Verdict, WorkerLost

_MAX_TRACKED: Final = 100
"""Maximum number of matches whose backoff is tracked; others may be retried immediately."""

_PER_MATCH: Final = Backoff(first=2.0, maximum=10.0, factor=5.0)
_SHARED: Final = Backoff(first=0.5, maximum=15.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryDelays:
    """Backoffs after void matches."""

    per_match: Backoff = _PER_MATCH  # for one match, by how often it has been void
    shared: Backoff = _SHARED  # for all matches, by the number of voids since a match was last played


RETRY_DELAYS: Final = RetryDelays()
"""Host failures often pass within seconds. The backoffs keep such failures from quarantining every match."""


class MatchBackoff:
    """Tracks the matches in backoff. All times are readings of the same clock, in seconds."""

    def __init__(self, delays: RetryDelays) -> None:
        self._delays = delays
        self._shared_until = 0.0
        self._failed: dict[str, tuple[int, float]] = {}
        """Number of voids and end of backoff by match, latest void last."""

    def fail(self, match: str, consecutive: int, now: float) -> None:
        """Start a void match's own backoff and the shared one.

        ``consecutive`` counts the voids since a match was last played, including this one.
        """
        times = self._failed.pop(match, (0, 0.0))[0] + 1
        self._failed[match] = (times, now + self._delays.per_match.after(times))
        if len(self._failed) > _MAX_TRACKED:
            del self._failed[next(iter(self._failed))]
        self._shared_until = now + self._delays.shared.after(consecutive)

    def forget(self, match: str) -> None:
        """Forget a match that is no longer queued."""
        self._failed.pop(match, None)

    def succeed(self, match: str) -> None:
        """End the shared backoff, and the backoff of a match that has been played."""
        self.forget(match)
        self._shared_until = 0.0

    def blocks_all(self, now: float) -> bool:
        """Return True if no match may start yet."""
        return now < self._shared_until

    def matches(self, now: float) -> tuple[str, ...]:
        """Return the ids of the matches in backoff."""
        return tuple(match for match, (_, until) in self._failed.items() if now < until)


MAX_CONSECUTIVE_VOIDS: Final = 10
"""The arena stops after this many void matches in a row, unless one author's bots or one of several workers
may have caused all of them."""


class ConsecutiveVoids:
    """Counts void matches since a match was last played."""

    def __init__(self) -> None:
        self.count = 0
        self._common_authors: frozenset[str] = frozenset()
        self._workers: frozenset[str] = frozenset()

    def too_many(self, workers: int) -> bool:
        """Given the number of workers, return True if the arena must stop so that it can be repaired.

        The arena continues if one author had a bot in every void match: the host may be unable to start this
        author's images, and matches with such images are soon quarantined. It also continues if all of the
        void matches failed on one of several workers, because the other workers retry them.
        """
        one_of_several = workers > 1 and len(self._workers) == 1
        return self.count >= MAX_CONSECUTIVE_VOIDS and not (self._common_authors or one_of_several)

    def add(self, authors: Collection[str], worker: str) -> None:
        """Count a void match, given its worker and the authors of its submitted bots."""
        self._common_authors = frozenset(authors) & (
            self._common_authors if self.count else frozenset(authors)
        )
        self._workers |= {worker}
        self.count += 1

    def reset(self) -> None:
        """Reset the count after a match has been played."""
        self.count = 0
        self._workers = frozenset()


_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class MatchStarted:
    """A match was given to a worker."""

    claim: Claim
    worker: str


@dataclass(frozen=True, slots=True)
class AttemptFailed:
    """An attempt was void or lost, and its match was requeued or quarantined."""

    match: str
    attempt: int
    reason: str
    lost: bool  # True if the attempt was lost (a worker, coordinator or engine failed), False if it was void
    quarantined: bool


@dataclass(frozen=True, slots=True)
class ResultDropped:
    """A result arrived after its attempt was over, and was not stored."""

    match: str
    attempt: int


@dataclass(frozen=True, slots=True)
class LeasesRenewed:
    """Leases were renewed. Reported from a separate thread."""

    renewed: int  # number of this coordinator's leases that were renewed
    expired: int  # number of leases that expired, whichever coordinator held them


MatchEvent = MatchStarted | FinishedMatch | AttemptFailed | ResultDropped | LeasesRenewed
"""A match or lease event. FinishedMatch means that the match was played and stored."""

Watcher = Callable[[MatchEvent], None]
"""Called with each event, in the coordinator's thread unless the event's docstring says otherwise."""


@dataclass(frozen=True, slots=True, eq=False)
class RunningMatch:
    """A match in progress."""

    claim: Claim
    reservation: Reservation
    future: Future[bytes]  # the encoded match record
    deadline: float  # monotonic, in seconds; afterwards the match counts as lost

    @property
    def has_record(self) -> bool:
        """True if the record has arrived."""
        return self.future.done() and not self.future.cancelled() and self.future.exception() is None

    def record(self) -> bytes:
        """Return the record without waiting.

        Raises WorkerLost if the match is not finished yet. If the future returned by
        :meth:`arena.scheduler.workers.Reservation.play` has failed, raises that future's error.
        """
        if not self.future.done():
            raise WorkerLost(
                f"worker {self.reservation.worker} did not finish the match within "
                "the time that the bots' clocks allow"
            )
        return self.future.result()


class MatchSettler:
    """Checks, stores and reports the results of matches; only the current attempt counts."""

    def __init__(
        self, store: Store, now: Callable[[], datetime], watchers: Sequence[Watcher], delays: RetryDelays
    ) -> None:
        self._store = store
        self._now = now
        self._watchers = watchers
        self.voids = ConsecutiveVoids()
        self.backoff = MatchBackoff(delays)  # matches in backoff after being void

    def settle(self, playing: RunningMatch) -> None:
        """Store the record, or requeue or quarantine the match and log the reason.

        Raises StoreError if the database is unavailable; nothing has changed, so the call can be retried.
        """
        claim = playing.claim
        try:
            record = playing.record()
            failpoint("record-received")
            finished = verified_match(claim, record, self._now())
            failpoint("record-checked")
            stored = self._store.results.record(finished)
        except StoreError:
            raise  # not the match's fault: the result is stored once the database is available
        except LauncherStopped:
            return
        except (WorkerLost, HostFailed, BrokenExecutor, CancelledError) as error:
            self._fail(playing, str(error) or f"worker {playing.reservation.worker} was lost", lost=True)
            return
        except MatchVoid as error:
            self._fail(playing, str(error))
            return
        except RecordRefused as error:
            self._fail(playing, f"worker {playing.reservation.worker}: {error}")
            return
        except Exception as error:  # noqa: BLE001 - see below
            # An arena defect or a malformed record must not affect other matches.
            _log.exception("match failed", match=claim.spec.match, attempt=claim.spec.attempt)
            self._fail(playing, repr(error))
            return
        playing.reservation.report(Verdict.VALID)
        self.voids.reset()
        self.backoff.succeed(claim.spec.match)
        if stored:
            failpoint("recorded")
            _log.info(
                "match stored", match=finished.match, attempt=finished.attempt, games=len(finished.games)
            )
            self.notify(finished)
        else:
            self._drop(claim)

    def notify(self, event: MatchEvent) -> None:
        """Call the watchers in order."""
        for watcher in self._watchers:
            watcher(event)

    def _fail(self, playing: RunningMatch, reason: str, *, lost: bool = False) -> None:
        claim, spec = playing.claim, playing.claim.spec
        end = self._store.leases.record_loss if lost else self._store.leases.record_void
        state = end(spec.match, spec.attempt, reason, self._now())
        what = "match lost" if lost else "match void"
        _log.error(what, match=spec.match, attempt=spec.attempt, state=state, reason=reason)
        if state is None:  # the attempt was already over
            self._drop(claim)
        else:
            quarantined = state is MatchState.QUARANTINED
            self.notify(AttemptFailed(spec.match, spec.attempt, reason, lost=lost, quarantined=quarantined))
        if not lost:
            authors = [seat.author for seat in claim.seats if seat.author != HOUSE]
            self.voids.add(authors, playing.reservation.worker)
            self.backoff.fail(spec.match, self.voids.count, time.monotonic())
            if state is not MatchState.WAITING:
                self.backoff.forget(spec.match)
        playing.reservation.report(Verdict.LOST if lost else Verdict.FAILED)

    def _drop(self, claim: Claim) -> None:
        """Log and report a result whose attempt was already over."""
        _log.warning("result dropped", match=claim.spec.match, attempt=claim.spec.attempt)
        self.notify(ResultDropped(claim.spec.match, claim.spec.attempt))
