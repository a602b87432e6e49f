"""Passwords at rest: argon2id, few at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from arena.accounts.errors import Busy

_AT_ONCE: Final = 2
_WAITING: Final = 8


def strong_hasher() -> PasswordHasher:
    """Return argon2id as RFC 9106 recommends it second: 64 MiB, three passes.

    One lane instead of its four: on a small machine the cores belong to the bots, and four lanes would take
    them all. It costs about 0.15 s of a core of 2020, and two at a time 128 MiB.
    """
    return PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=1, hash_len=32, salt_len=16)


class Passwords:
    """Makes and checks hashes in the callers' threads, a few at a time; the rest wait, and then are refused.

    Args:
        hasher: With the parameters of new hashes.
    """

    def __init__(self, hasher: PasswordHasher) -> None:
        self._hasher = hasher
        self._working = BoundedSemaphore(_AT_ONCE)
        self._places = BoundedSemaphore(_AT_ONCE + _WAITING)
        # For names that nobody has: checking takes the same way, and fails.
        self._nobodys = hasher.hash("nobody has this password")

    def hash(self, password: str) -> str:
        """Return a new hash of a password.

        Raises:
            Busy: Too many wait already.
        """
        with self._turn():
            return self._hasher.hash(_bytes(password))

    def holds(self, password: str, stored: str | None) -> bool:
        """Whether this is the password of a hash. With None it is not, after the same work.

        Raises:
            Busy: Too many wait already.
        """
        with self._turn():
            try:
                self._hasher.verify(self._nobodys if stored is None else stored, _bytes(password))
            except (VerificationError, InvalidHashError):
                return False
        return stored is not None

    def is_outdated(self, stored: str) -> bool:
        """Whether a hash was made with other parameters than those of new ones."""
        return self._hasher.check_needs_rehash(stored)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._places.acquire(blocking=False):
            raise Busy("many people log in at this moment: try again in a few seconds")
        try:
            with self._working:
                yield
        finally:
            self._places.release()


def _bytes(password: str) -> bytes:
    return password.encode("utf-8", "surrogatepass")
