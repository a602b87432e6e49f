"""What a coordinator asks of whoever plays its matches."""

from collections.abc import Callable
from concurrent.futures import Future
from enum import Enum
from typing import Protocol

from arena.launcher import LauncherError
from arena.workers.status import WorkerStatus


class WorkerLost(LauncherError):
    """Nothing more is heard of whoever played a match. The text says of whom."""


class Verdict(Enum):
    """What a coordinator makes of what a worker did with a match."""

    BELIEVED = "believed"
    """Its record was checked, and is true."""

    SPOILT = "spoilt"
    """It failed there, or its record is not to be believed."""

    LOST = "lost"
    """Nothing came back, or not in time."""


class Place(Protocol):
    """Room for one match at a worker.

    Attributes:
        worker: The worker's name.
        seats: How many bots there is room for.
        cpus: So much of its cores each of them may use.
    """

    @property
    def worker(self) -> str:
        """See the class."""

    @property
    def seats(self) -> int:
        """See the class."""

    @property
    def cpus(self) -> float:
        """See the class."""

    def play(self, spec: bytes, progress: Callable[[bytes], None]) -> Future[bytes]:
        """Play a match there; to be called once. The room is given back when the future is done.

        Args:
            spec: A :class:`arena.match.MatchSpec`.
            progress: May be given a :class:`arena.match.Progress` now and then, from any thread, until the
                future is done. Each says all of a game that the ones before did, so any of them may be lost.

        Returns:
            Of a :class:`arena.match.MatchRecord`. It may fail with MatchVoid (HostFailed where the worker
            can't play at all), WorkerLost and LauncherStopped.
        """

    def judge(self, verdict: Verdict) -> None:
        """Hear what came of the match; to be called once of each that was played, as its future can't tell.

        Not of matches that end because everything does.
        """

    def give_back(self) -> None:
        """Give the room back without a match."""


class Workers(Protocol):
    """Those who play matches. Every method may be called from any thread."""

    def take(self, seats: int) -> Place | None:
        """Reserve room for a match with so many seats, or return None while nobody has it."""

    def status(self) -> tuple[WorkerStatus, ...]:
        """Return who there is."""

    def stop(self) -> None:
        """End all matches at once, and begin no more."""
