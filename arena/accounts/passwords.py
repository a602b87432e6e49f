"""Hashes passwords with argon2id, a few at a time."""

from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from secrets import token_bytes
from threading import BoundedSemaphore
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from arena.accounts.errors import Busy, PasswordRefused

_MAX_CONCURRENT: Final = 2
_MAX_WAITING: Final = 8


def strong_hasher() -> PasswordHasher:
    """Return an argon2id hasher with RFC 9106's second recommended option: 64 MiB, three passes.

    It uses one lane instead of four, to leave a small machine's cores to the bots. A hash takes about
    0.15 s on a CPU core from 2020; two hashes in parallel take 128 MiB.
    """
    return PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=1, hash_len=32, salt_len=16)


class Passwords:
    """Hashes and checks passwords in the callers' threads, a few at a time.

    Other callers wait. If too many are waiting, a call raises Busy.
    """

    def __init__(self, hasher: PasswordHasher) -> None:
        self._hasher = hasher
        self._hashing = BoundedSemaphore(_MAX_CONCURRENT)
        self._callers = BoundedSemaphore(_MAX_CONCURRENT + _MAX_WAITING)
        # Passwords for unknown names are checked against this, so that all checks take equally long.
        self._decoy = _decoy(hasher)

    def hash(self, password: str) -> str:
        """Return a new hash of a password. Raises Busy."""
        with self._slot():
            return self._hasher.hash(encoded(password))

    def matches(self, password: str, stored: str | None) -> bool:
        """Return True if a password matches a hash. No password matches None. Raises Busy.

        The check takes as long for None as for a hash.
        """
        with self._slot():
            try:
                self._hasher.verify(self._decoy if stored is None else stored, encoded(password))
            except (VerificationError, InvalidHashError):
                return False
        return stored is not None

    def is_outdated(self, stored: str) -> bool:
        """Return True if a hash's parameters differ from those of new hashes."""
        return self._hasher.check_needs_rehash(stored)

    @contextmanager
    def _slot(self) -> Iterator[None]:
        if not self._callers.acquire(blocking=False):
            raise Busy("too many people are logging in: try again in a few seconds")
        try:
            with self._hashing:
                yield
        finally:
            self._callers.release()


def _decoy(hasher: PasswordHasher) -> str:
    """Return a random hash that matches no known password.

    Computing a real hash would slow down every start.
    """
    salt, digest = (
        b64encode(token_bytes(length)).decode().rstrip("=") for length in (hasher.salt_len, hasher.hash_len)
    )
    costs = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v=19${costs}${salt}${digest}"


def encoded(text: str) -> bytes:
    """Encode text as UTF-8, including lone surrogates."""
    return text.encode("utf-8", "surrogatepass")


MIN_LENGTH: Final = 8
"""Minimum number of characters (ASVS 5.0, 6.2.1). Like ASVS, the site recommends at least 15."""

MAX_LENGTH: Final = 256

_WORDS: Final = ("kaiten", "sushi", "arena", "chopsticks", "password", "passwort", "qwertyui")
"""Words that attackers would try first. A password that is little more than one of them is refused."""

_MIN_EXTRA_CHARACTERS: Final = 4
_MIN_DISTINCT_CHARACTERS: Final = 3


def check_new_password(password: str, name: str) -> None:
    """Check a new password, exactly as typed.

    Raises PasswordRefused if it is too short, too long or easy to guess. The message gives the reason, but
    doesn't contain the password.
    """
    if len(password) < MIN_LENGTH:
        raise PasswordRefused(
            f"use at least {MIN_LENGTH} characters for the password; 15 or more are recommended"
        )
    if len(password) > MAX_LENGTH:
        raise PasswordRefused(f"use at most {MAX_LENGTH} characters for the password")
    folded = password.lower()
    if folded in _common_passwords():
        raise PasswordRefused("this is one of the most common passwords: choose another")
    for word in (name.lower(), *_WORDS):
        if word in folded and len(folded) - len(word) < _MIN_EXTRA_CHARACTERS:
            raise PasswordRefused(
                "this password is little more than the account's name or a word from this site, so it is "
                "easy to guess: choose another"
            )
    if len(set(folded)) < _MIN_DISTINCT_CHARACTERS:
        raise PasswordRefused("this password repeats one or two characters: choose another")


@cache
def _common_passwords() -> frozenset[str]:
    from zxcvbn.frequency_lists import FREQUENCY_LISTS  # noqa: PLC0415 - large, and only a new password needs it

    return frozenset(FREQUENCY_LISTS["passwords"])
