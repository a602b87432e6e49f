"""Where time and secrets come from, and what is kept of a secret."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where time and secrets come from.

    Attributes:
        now: UTC.
        new_secret: 256 bits that nobody can guess, as letters, digits, - and _.
        new_pseudonym: A name for an account that is deleted; another one each time.
    """

    now: Callable[[], datetime]
    new_secret: Callable[[], str]
    new_pseudonym: Callable[[], str]


def hash_of(secret: str) -> str:
    """Return what is kept of a secret: its SHA-256. One of 256 bits needs no salt and no slow hash."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
