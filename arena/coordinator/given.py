"""The matches that a coordinator has given away."""

import threading
from concurrent.futures import Future
from dataclasses import dataclass

from arena.store import Claim
from arena.workers.workers import Place, WorkerLost


@dataclass(frozen=True, slots=True, eq=False)
class Playing:
    """A match that is being played.

    Attributes:
        claim: What is played.
        place: Where.
        future: Of its record.
        deadline: Seconds of the monotonic clock; later than that it is not waited for.
    """

    claim: Claim
    place: Place
    future: Future[bytes]
    deadline: float

    def record(self) -> bytes:
        """Return the record, for which nobody waits any more.

        Raises:
            WorkerLost: There is none yet.
            LauncherError: See :meth:`arena.workers.workers.Place.play`.
        """
        if not self.future.done():
            raise WorkerLost(f"worker {self.place.worker} did not end it in the time that its clocks allow")
        return self.future.result()


class Given:
    """The matches that were given away and are not settled yet. Thread-safe: leases are kept for these."""

    def __init__(self) -> None:
        self._playing: set[Playing] = set()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        with self._lock:
            return len(self._playing)

    def __contains__(self, playing: Playing) -> bool:
        with self._lock:
            return playing in self._playing

    @property
    def matches(self) -> frozenset[str]:
        """Their ids."""
        with self._lock:
            return frozenset(playing.claim.spec.match for playing in self._playing)

    def add(self, playing: Playing) -> None:
        """Take one in."""
        with self._lock:
            self._playing.add(playing)

    def discard(self, playing: Playing) -> None:
        """Forget one, if it is there."""
        with self._lock:
            self._playing.discard(playing)

    def late(self, now: float) -> tuple[Playing, ...]:
        """Return those whose deadlines have passed."""
        with self._lock:
            return tuple(playing for playing in self._playing if playing.deadline < now)
