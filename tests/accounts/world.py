"""Accounts over a real store, with a clock that the test moves, secrets that it knows, and cheap hashes."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Self, TypeVar, cast

from argon2 import PasswordHasher

from arena.accounts.accounts import Accounts
from arena.accounts.credentials import Sources
from arena.db.credentials import KnownAccount
from arena.db.people import StoredPassword
from arena.db.store import Store
from arena.platform.settings import RegistrationMode
from arena.protocol.states import Role
from tests.databases import sqlite_store

PASSWORD: Final = "correct horse battery staple"  # noqa: S105 - a test's
START: Final = datetime(2026, 11, 3, 12, tzinfo=UTC)
CHEAP: Final = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)

T = TypeVar("T")


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
        file: That of the store, if it has one.
        webhook_hosts: Those that may be anywhere.
        sends_mail: Whether a mail server is set up.
        secrets: How many were given.
        former: How many pseudonyms were given that were not wanted ones.
        accounts: Of the store.
        site: The one that its visitors share; see :func:`tests.web.app.shared_site`.
    """

    store: Store
    mode: RegistrationMode = RegistrationMode.OPEN
    now: datetime = START
    uploads: Path = Path("/nowhere")
    least_free: int = 0
    pseudonyms: list[str] = field(default_factory=list)
    file: Path | None = None
    webhook_hosts: frozenset[str] = frozenset()
    sends_mail: bool = True
    secrets: int = 0
    former: int = 0
    accounts: Accounts = field(init=False)
    site: object = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.sources = Sources(
            now=lambda: self.now, new_secret=self.new_secret, new_pseudonym=self._new_pseudonym
        )
        self.accounts = self.with_hasher(CHEAP)

    def new_secret(self) -> str:
        """Return another secret."""
        self.secrets += 1
        return f"secret-{self.secrets - 1:036}"

    def _new_pseudonym(self) -> str:
        if self.pseudonyms:
            return self.pseudonyms.pop(0)
        self.former += 1
        return f"former-{self.former}"

    @property
    def exports(self) -> Path:
        """The folder of exported games, which need not exist."""
        return self.uploads.with_name("exports")

    @classmethod
    def at(cls, folder: Path, mode: RegistrationMode = RegistrationMode.OPEN) -> Self:
        """Make one in a folder."""
        file = folder / "arena.sqlite3"
        return cls(sqlite_store(file), mode, uploads=folder / "uploads", file=file)

    def filled(self, fill: "Callable[[World], T]") -> T:
        """Do what ``fill`` does to a world in which nothing is, and return what it returns.

        It is called once in a process, and worlds become as that one then was: much quicker. What it returns
        belongs to all of them.
        """
        if self.file is None:
            return fill(self)
        filled = _FILLED.get(fill) or _FILLED.setdefault(fill, _fill(fill))
        with closing(sqlite3.connect(self.file)) as own:
            own.execute("PRAGMA synchronous = OFF")
            filled.content.backup(own)
        self.now, self.secrets, self.former = filled.now, filled.secrets, filled.former
        return cast("T", filled.returned)

    def with_hasher(self, hasher: PasswordHasher) -> Accounts:
        """Return accounts of the same store that hash in another way."""
        return Accounts.over(self.store, self.mode, self.sources, hasher)

    def add(self, name: str, role: Role = Role.USER) -> KnownAccount:
        """Add an account with ``PASSWORD``."""
        return self.accounts.operators.create_user("terminal:test", name, PASSWORD, role)

    def checked(self, account: KnownAccount) -> StoredPassword:
        """Return an account as after a check of its password."""
        found = self.store.people.account(account.name)
        assert found is not None
        return found

    def later(self, **time: float) -> None:
        """Let time pass."""
        self.now += timedelta(**time)

    def close(self) -> None:
        """Close the store."""
        self.store.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Filled:
    content: sqlite3.Connection
    now: datetime
    secrets: int
    former: int
    returned: object


_FILLED: Final[dict[Callable[[World], object], _Filled]] = {}


def _fill(fill: Callable[[World], object]) -> _Filled:
    with TemporaryDirectory() as folder, closing(World.at(Path(folder))) as world:
        returned = fill(world)
        content = sqlite3.connect(":memory:")
        with closing(sqlite3.connect(Path(folder, "arena.sqlite3"))) as file:
            file.backup(content)
        return _Filled(
            content=content, now=world.now, secrets=world.secrets, former=world.former, returned=returned
        )
