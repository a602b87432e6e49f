"""Accounts over a real store, with a clock that the test moves, secrets that it knows, and cheap hashes."""

import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Self

from argon2 import PasswordHasher

from arena.accounts.accounts import Accounts
from arena.accounts.credentials import Sources
from arena.db.credentials import KnownAccount
from arena.db.store import Store
from arena.platform.settings import RegistrationMode
from arena.protocol.states import Role
from tests.databases import sqlite_store

PASSWORD: Final = "correct horse battery staple"  # noqa: S105 - a test's
START: Final = datetime(2026, 11, 3, 12, tzinfo=UTC)
CHEAP: Final = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@dataclass
class World:
    """A store, accounts over it, and what they get from outside.

    Attributes:
        store: Real.
        mode: Who may register.
        now: The time; add to it.
        uploads: Where files for its bots go.
        least_free: Bytes that these leave free on their disk.
        pseudonyms: Those to be given, in order; ``former-1``, ``former-2``, … without.
        accounts: Of the store.
    """

    store: Store
    mode: RegistrationMode = RegistrationMode.OPEN
    now: datetime = START
    uploads: Path = Path("/nowhere")
    least_free: int = 0
    pseudonyms: list[str] = field(default_factory=list)
    accounts: Accounts = field(init=False)

    def __post_init__(self) -> None:
        numbers, names = itertools.count(), itertools.count(1)
        self._sources = Sources(
            now=lambda: self.now,
            new_secret=lambda: f"secret-{next(numbers):036}",
            new_pseudonym=lambda: self.pseudonyms.pop(0) if self.pseudonyms else f"former-{next(names)}",
        )
        self.accounts = self.with_hasher(CHEAP)

    @classmethod
    def at(cls, folder: Path, mode: RegistrationMode = RegistrationMode.OPEN) -> Self:
        """Make one in a folder."""
        return cls(sqlite_store(folder / "arena.sqlite3"), mode, uploads=folder / "uploads")

    def with_hasher(self, hasher: PasswordHasher) -> Accounts:
        """Return accounts of the same store that hash in another way."""
        return Accounts.over(self.store, self.mode, self._sources, hasher)

    def add(self, name: str, role: Role = Role.USER) -> KnownAccount:
        """Add an account with ``PASSWORD``."""
        return self.accounts.operators.create_user("terminal:test", name, PASSWORD, role)

    def later(self, **time: float) -> None:
        """Let time pass."""
        self.now += timedelta(**time)

    def close(self) -> None:
        """Close the store."""
        self.store.close()
