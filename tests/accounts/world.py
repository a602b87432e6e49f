"""Accounts over a real store, with a clock set by the test, predictable secrets and cheap hashes."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Self, TypeVar, cast

from argon2 import PasswordHasher

from arena.accounts.accounts import Accounts
from arena.accounts.credentials import Sources
from arena.db.accounts import StoredPassword
from arena.db.credentials import KnownAccount
from arena.db.store import Store
from arena.platform.settings import RegistrationMode
from arena.protocol.states import Role
from tests.builders import START
from tests.databases import sqlite_store
from tests.db.builders import present

PASSWORD: Final = "correct horse battery staple"  # noqa: S105 - a test password
NEW: Final = "an entirely different phrase"
"""Another password."""
CHEAP: Final = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)

T = TypeVar("T")


@dataclass
class World:
    """A store with accounts, and the clock and settings that they use."""

    store: Store
    mode: RegistrationMode = RegistrationMode.OPEN
    now: datetime = START  # tests advance it
    uploads: Path = Path("/nowhere")  # the folder for uploaded files
    least_free: int = 0  # bytes that uploads must leave free on the disk
    pseudonyms: list[str] = field(default_factory=list)  # the next ones; then `former-1`, `former-2`, …
    file: Path | None = None  # the store's file, if it is an SQLite store
    sends_mail: bool = True  # whether a mail server is set up
    secrets: int = 0  # number of secrets generated
    former: int = 0  # number of pseudonyms generated, without those from `pseudonyms`
    accounts: Accounts = field(init=False)
    # The site that its visitors share; see `tests.web.app.shared_site`.
    site: object = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.sources = Sources(
            now=lambda: self.now, new_secret=self.new_secret, new_pseudonym=self._new_pseudonym
        )
        self.accounts = self.with_hasher(CHEAP)

    def new_secret(self) -> str:
        """Return a new secret."""
        self.secrets += 1
        return f"secret-{self.secrets - 1:036}"

    def _new_pseudonym(self) -> str:
        if self.pseudonyms:
            return self.pseudonyms.pop(0)
        self.former += 1
        return f"former-{self.former}"

    @property
    def exports(self) -> Path:
        """The folder of exported games, which may not exist."""
        return self.uploads.with_name("exports")

    @classmethod
    def at(cls, folder: Path, mode: RegistrationMode = RegistrationMode.OPEN) -> Self:
        """Create a world with an SQLite store in a folder."""
        file = folder / "arena.sqlite3"
        return cls(sqlite_store(file), mode, uploads=folder / "uploads", file=file)

    def filled(self, fill: "Callable[[World], T]") -> T:
        """Fill this empty world with ``fill``, and return its result.

        ``fill`` is called once per process. Later calls only copy the filled database, which is much
        faster, so all worlds share the result.
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
        """Return accounts over the same store with another hasher."""
        return Accounts.for_store(self.store, self.mode, self.sources, hasher)

    def add(self, name: str, role: Role = Role.USER) -> KnownAccount:
        """Add an account with the password ``PASSWORD``."""
        return self.accounts.operators.create_user("terminal:test", name, PASSWORD, role)

    def account(self, name: str) -> KnownAccount:
        """Return the account with this name."""
        return present(self.store.accounts.account(name)).account

    def checked(self, account: KnownAccount) -> StoredPassword:
        """Return the account and its hash as a successful password check returns them."""
        return present(self.store.accounts.account(account.name))

    def log_in(self, account: KnownAccount) -> str:
        """Open a session for an account, and return its secret."""
        return self.accounts.sessions.open(self.checked(account), "", instead_of=None)

    def later(self, **time: float) -> None:
        """Advance the clock."""
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
