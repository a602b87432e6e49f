"""All services of accounts, put together."""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Self

from argon2 import PasswordHasher

from arena.accounts.names import FORMER
from arena.accounts.operators import Operators
from arena.accounts.own import Own
from arena.accounts.passwords import Passwords, strong_hasher
from arena.accounts.registration import Registration
from arena.accounts.sessions import Sessions
from arena.accounts.sources import Sources
from arena.accounts.tokens import Tokens
from arena.settings import RegistrationMode
from arena.store import People

_SECRET_BYTES: Final = 32
_PSEUDONYM_BYTES: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    """Everything that can be done with accounts.

    Attributes:
        registration: How somebody gets one.
        sessions: Browsers that are logged in.
        tokens: Programs that are let in.
        own: What people do with their own account.
        operators: What operators do with all.
    """

    registration: Registration
    sessions: Sessions
    tokens: Tokens
    own: Own
    operators: Operators

    @classmethod
    def over(cls, people: People, mode: RegistrationMode, sources: Sources, hasher: PasswordHasher) -> Self:
        """Put them together over a store's people."""
        passwords = Passwords(hasher)
        sessions = Sessions(people, passwords, sources)
        return cls(
            registration=Registration(people, passwords, sources, mode),
            sessions=sessions,
            tokens=Tokens(people, sources),
            own=Own(people, passwords, sessions, sources),
            operators=Operators(people, passwords, sources),
        )


def open_accounts(people: People, mode: RegistrationMode) -> Accounts:
    """Put them together with the real clock, real secrets and strong hashes.

    Here and not in :mod:`arena.bootstrap`, which knows Docker: the site needs them too.
    """
    return Accounts.over(people, mode, _real_sources(), strong_hasher())


def _real_sources() -> Sources:
    return Sources(
        now=lambda: datetime.now(UTC),
        new_secret=lambda: secrets.token_urlsafe(_SECRET_BYTES),
        new_pseudonym=lambda: FORMER + secrets.token_hex(_PSEUDONYM_BYTES),
    )
