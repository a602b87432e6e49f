"""The connection to a database: SQLite in one file, or PostgreSQL."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry

from arena.store.drivers import forget_values, meaning
from arena.store.errors import DatabaseUnavailable, DatabaseUnwritable, StoreError

_LOCKED_SECONDS = 60
_SWITCH_SECONDS = 2.0
"""How long a write waits for another process's: longer than any hiccup, so that none costs a result."""

_PATIENCE = {
    "connect_timeout": 10,
    "tcp_user_timeout": 20_000,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 2,
}
"""Of connections to PostgreSQL, where the address does not say otherwise: seconds until there has to be one,
milliseconds until a host has to have received what it was sent, seconds and times that it is asked whether it
is still there. Without these a host that is gone is waited for a quarter of an hour."""

_COMMON: dict[str, Any] = {
    # Together more than the 40 threads of a web process, so that none waits for a connection.
    "pool_size": 10,
    "max_overflow": 40,
    # Errors reach the log, and what is written may be a hash of a password or what a bot printed.
    "hide_parameters": True,
}


_ADDRESSES = "Kaiten keeps its data in sqlite:///FILE or postgresql+psycopg://HOST/NAME"
_DRIVERS = frozenset({"sqlite", "sqlite+pysqlite", "postgresql", "postgresql+psycopg"})
_SECRETS = ("password", "sslpassword")
"""Parameters of PostgreSQL's that may stand behind the question mark of an address."""


class Database:
    """Transactions on one database. Threads may share it.

    Attributes:
        url: Where it is, without a password.
    """

    def __init__(self, url: str) -> None:
        """Prepare; nothing is opened yet.

        Raises:
            StoreError: The URL is neither PostgreSQL's nor that of an SQLite file.
        """
        address = _address(url)
        self.url = _shown(address)
        self.is_sqlite = address.get_backend_name() == "sqlite"
        self._engine = _sqlite(address) if self.is_sqlite else _postgresql(address)
        self._writer = self._engine.execution_options(writes=True)

    @contextmanager
    def read(self, *, snapshot: bool = False) -> Iterator[Connection]:
        """Read in one transaction.

        Args:
            snapshot: Whether all of it must be of one moment, however long it takes. On SQLite it always is.

        Raises:
            DatabaseDamaged: The file is no database.
            DatabaseUnavailable: It can't be reached.
        """
        frozen = snapshot and not self.is_sqlite
        engine = self._engine.execution_options(isolation_level="REPEATABLE READ") if frozen else self._engine
        with self._transaction(engine) as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Write in one transaction: all of it is kept, or nothing. On SQLite it is the only writer.

        Raises:
            DatabaseDamaged: The file is no database.
            DatabaseUnavailable: It can't be reached, stayed locked, or can only be read.
        """
        with self._transaction(self._writer) as connection:
            yield connection

    def connect(self) -> Connection:
        """Open a connection that stays until it is closed; every statement is a transaction there."""
        return self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    @contextmanager
    def _transaction(self, engine: Engine) -> Iterator[Connection]:
        with self.explained(), engine.begin() as connection:
            yield connection

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn errors of the driver into those that say what is wrong with the database."""
        try:
            yield
        except DBAPIError as error:
            forget_values(error)
            trouble = meaning(error, self.url)
            if trouble is None:
                raise
            if isinstance(trouble, DatabaseUnwritable):
                # A session of PostgreSQL's stays as it began; only new ones learn that writes are back.
                self._engine.dispose()
            raise trouble from error


def sqlite_file(url: str) -> Path | None:
    """Return the file of an SQLite database, whether it is there or not; None for another kind of database.

    Raises:
        StoreError: The URL can't be used.
    """
    address = _address(url)
    return _file_of(address) if address.get_backend_name() == "sqlite" else None


def _address(url: str) -> URL:
    """Read an address.

    Raises:
        StoreError: It is none, or that of another kind of database.
    """
    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        address = None
    if address is None or "@" in (address.host or ""):
        # What can't be taken apart is not shown: a password may stand anywhere in it.
        raise StoreError(
            f"the database's address can't be read: {_ADDRESSES}. In a user's name or password @ is "
            "written %40, / %2F and : %3A"
        )
    if address.drivername not in _DRIVERS:
        raise StoreError(f"{_shown(address)}: {_ADDRESSES}")
    return address


def _shown(address: URL) -> str:
    """Return an address without passwords."""
    return address.difference_update_query(_SECRETS).render_as_string()


def _file_of(address: URL) -> Path:
    if address.database in {None, "", ":memory:"}:
        raise StoreError(f"an SQLite database in memory would be lost: {_ADDRESSES}")
    return Path(address.database or "")


def _postgresql(address: URL) -> Engine:
    """Make an engine that takes a server which has gone silent for one that is away."""
    patience = {name: value for name, value in _PATIENCE.items() if name not in address.query}
    return create_engine(address, connect_args=patience, pool_pre_ping=True, **_COMMON)


def _sqlite(address: URL) -> Engine:
    """Make an engine whose reads are snapshots and whose writes take the lock at their beginning."""
    file = _file_of(address)
    folder = file.parent
    if not folder.is_dir():
        raise DatabaseUnavailable(f"the folder {folder} doesn't exist: create it, or name another database")
    _make_for_the_folders_owner(file)
    engine = create_engine(address, connect_args={"timeout": _LOCKED_SECONDS}, **_COMMON)
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)
    return engine


def _make_for_the_folders_owner(file: Path) -> None:
    """Where root makes a database in somebody else's folder, let it be theirs: the site's, which is not root.

    SQLite gives its other files to the owner of the database by itself.
    """
    owner = file.parent.stat()
    if os.geteuid() != 0 or owner.st_uid == 0 or file.exists():
        return
    try:
        made = os.open(file, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileExistsError:  # another process was first
        return
    try:
        os.fchown(made, owner.st_uid, owner.st_gid)
    finally:
        os.close(made)


def _on_connect(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
    # The driver's own transactions begin late, at the first write, and then fail where another
    # process has written meanwhile. With None it leaves them to _on_begin.
    connection.isolation_level = None
    cursor = connection.cursor()
    _switch_to_wal(cursor)
    for pragma in ("synchronous = FULL", "foreign_keys = ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _switch_to_wal(cursor: sqlite3.Cursor) -> None:
    """Ask for the write-ahead log. Here alone SQLite does not wait for others who open the file too."""
    end = time.monotonic() + _SWITCH_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return


def _on_begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
