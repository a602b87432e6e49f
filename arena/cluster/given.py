"""What a coordinator has given to workers of a cluster and was not answered yet."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """A match that was given away.

    Attributes:
        ticket: By which its worker names it.
        run: Of the worker.
        worker: The worker's name.
        seats: So many it takes there.
        progress: Hears how far its games are.
        promise: What the coordinator waits for.
    """

    ticket: str
    run: str
    worker: str
    seats: int
    progress: Callable[[bytes], None]
    promise: Future[bytes]

    def keep(self, record: bytes) -> None:
        """Say what came of it, unless something was said before."""
        if not self.promise.done():
            self.promise.set_result(record)

    def fail(self, error: Exception) -> None:
        """Say why nothing came of it, unless something was said before."""
        if not self.promise.done():
            self.promise.set_exception(error)


class Tickets:
    """All of them, until they are settled. Thread-safe: each is settled once, by whoever comes first."""

    def __init__(self) -> None:
        self._given: dict[str, tuple[Given, Future[Any] | None]] = {}
        self._lock = threading.RLock()

    def add(self, given: Given) -> None:
        """Take one in, before it is sent."""
        with self._lock:
            self._given[given.ticket] = (given, None)

    def sent(self, ticket: str, answer: Future[Any]) -> bool:
        """Note on what one that was sent is waiting; False where it is settled already."""
        with self._lock:
            if ticket not in self._given:
                return False
            self._given[ticket] = (self._given[ticket][0], answer)
            return True

    def find(self, ticket: str) -> Given | None:
        """Return one that is not settled."""
        with self._lock:
            given = self._given.get(ticket)
            return None if given is None else given[0]

    def settle(self, ticket: str) -> tuple[Given, Future[Any] | None] | None:
        """Take one out, for the one caller who may then say what came of it."""
        with self._lock:
            return self._given.pop(ticket, None)

    def elsewhere(self, runs: Iterable[str]) -> tuple[Given, ...]:
        """Return those that are at none of these workers."""
        there = frozenset(runs)
        with self._lock:
            return tuple(given for given, _ in self._given.values() if given.run not in there)
