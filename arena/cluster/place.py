"""Some seats of a worker, for one match."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol

from arena.cluster.rooms import Member
from arena.workers.workers import Verdict


class Giver(Protocol):
    """Who gives matches to workers."""

    def play(
        self, member: Member, seats: int, spec: bytes, progress: Callable[[bytes], None]
    ) -> Future[bytes]:
        """Give a match to a worker."""

    def judge(self, member: Member, seats: int, verdict: Verdict) -> None:
        """Take note of what came of a worker's match."""

    def give_back(self, member: Member, seats: int) -> None:
        """Free seats that were not used."""


class ClusterPlace:
    """See :class:`arena.workers.workers.Place`.

    Args:
        giver: Who has reserved it.
        member: The worker.
        seats: How many of its seats.
    """

    def __init__(self, giver: Giver, member: Member, seats: int) -> None:
        self.worker = member.card.name
        self.seats = seats
        self.cpus = member.card.cpus
        self._giver = giver
        self._member = member

    def play(self, spec: bytes, progress: Callable[[bytes], None]) -> Future[bytes]:
        """Play a match there."""
        return self._giver.play(self._member, self.seats, spec, progress)

    def judge(self, verdict: Verdict) -> None:
        """Let it count for the worker, or against it."""
        self._giver.judge(self._member, self.seats, verdict)

    def give_back(self) -> None:
        """Free the seats."""
        self._giver.give_back(self._member, self.seats)
