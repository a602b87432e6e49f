"""Connections to a database: an SQLite file, or PostgreSQL."""

import os
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
from sqlalchemy import URL, Connection, Engine, Row, create_engine, event, func, make_url, select, text
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, InterfaceError, OperationalError
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.pool import ConnectionPoolEntry

from arena.db.errors import DatabaseRefused, DatabaseUnavailable, DatabaseUnwritable, StoreError
from arena.protocol.decoding import prepared

if TYPE_CHECKING:
    from psycopg import Error as PostgresError
    from sqlalchemy.dialects import postgresql, sqlite

R = TypeVar("R")

_READ_ONLY: Final = "25006"
_CONNECTION_LOST: Final = frozenset({"25P03", "25P04", "42501"})
"""SQLSTATEs that the driver misclassifies. They mean that the server ended the session, or that permissions
are missing."""

_DATA_EXCEPTION: Final = "22"
"""The SQLSTATE class of errors whose messages quote a value."""


def redact_values(error: DBAPIError) -> None:
    """Remove rows and values from the message of a PostgreSQL error, because errors are logged."""
    cause = _postgresql_error(error)
    if cause is None or cause.diag.message_primary is None:
        return
    words = cause.diag.message_primary
    if (cause.sqlstate or "").startswith(_DATA_EXCEPTION):
        words = re.sub('".*"', '"…"', words, flags=re.DOTALL)
    error.args = (f"({type(cause).__module__}.{type(cause).__name__}) {words}",)
    cause.args = (words,)


def store_error_of(error: DBAPIError, url: str) -> StoreError | None:
    """Translate a driver's error; return None if the caller caused it. ``url`` must contain no password."""
    words = " ".join(str(error.orig).split())
    if _sqlstate(error) == _READ_ONLY or _sqlite_code(error.orig) == sqlite3.SQLITE_READONLY:
        return DatabaseUnwritable(
            f"{url}: {words}. The database is read-only. Make it writable, or choose another one"
        )
    if isinstance(error, (OperationalError, InterfaceError)) or _sqlstate(error) in _CONNECTION_LOST:
        return DatabaseUnavailable(
            f"{url}: {words}. Check that it exists, that this user may write to it, "
            "and that its disk has space"
        )
    if _sqlite_code(error.orig) in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
        return DatabaseRefused(
            f"{url}: {words}. Move the file aside, and restore a backup with `arena restore FILE` or "
            "start with an empty database"
        )
    return None


def _sqlstate(error: DBAPIError) -> str | None:
    cause = _postgresql_error(error)
    return None if cause is None else cause.sqlstate


def _postgresql_error(error: DBAPIError) -> "PostgresError | None":
    """Return the driver's error if it is psycopg's, else None. An arena on SQLite never loads psycopg."""
    if isinstance(error.orig, sqlite3.Error):
        return None
    from psycopg import Error  # noqa: PLC0415 - slow to import; already loaded if it raised the error

    return error.orig if isinstance(error.orig, Error) else None


def _sqlite_code(error: BaseException | None) -> int | None:
    """Return the primary code of SQLite's error, or None for any other error."""
    code = getattr(error, "sqlite_errorcode", None)  # the driver's own errors have no code
    return None if code is None else code & 0xFF  # the higher bits are the extended code


_BUSY_SECONDS = 60
"""Maximum wait of a write for other writers: longer than any write takes, so that no result is lost."""

_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL}
"""Codes of errors caused by another process that is using the database."""

_TIMEOUTS = {
    "connect_timeout": 10,
    "tcp_user_timeout": 20_000,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 2,
}
"""Connection parameters for PostgreSQL that a URL may override. Times are in seconds, except
``tcp_user_timeout``, which is in milliseconds. Without these parameters, a connection to a lost host hangs
for a quarter of an hour."""

_COMMON_OPTIONS: dict[str, Any] = {
    # The two sizes together exceed a web process's 40 threads, so no thread waits for a connection.
    "pool_size": 10,
    "max_overflow": 40,
    # Errors are logged, and parameters may be password hashes or bots' output.
    "hide_parameters": True,
}


_SUPPORTED_URLS = "use sqlite:///FILE or postgresql+psycopg://HOST/NAME"
_DRIVERS = frozenset({"sqlite", "sqlite+pysqlite", "postgresql", "postgresql+psycopg"})
_SECRETS = ("password", "sslpassword")
"""Query parameters of a PostgreSQL URL that are secret."""


class OpenTransaction:
    """Lets repositories use a transaction that is already open."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Yield the transaction's connection."""
        yield self._connection

    write = read


class Repository:
    """Queries and changes for one kind of data. Each method is normally one transaction. Thread-safe.

    Every method may raise DatabaseUnavailable. In that case, a write took effect completely or not at all.
    """

    def __init__(self, transactions: "Database | OpenTransaction") -> None:
        self._transactions = transactions


class Database:
    """Transactions on one database. Thread-safe. ``url`` has no password; ``file`` is None for PostgreSQL."""

    def __init__(self, url: str) -> None:
        """Prepare the engine without connecting.

        Raises StoreError if the URL isn't supported, or the folder of the SQLite file doesn't exist.
        """
        address = _address(url)
        self.url = _redacted(address)
        self.file = _file_of(address)
        self.is_sqlite = self.file is not None
        self._engine = _postgresql(address) if self.file is None else _sqlite(address, self.file)
        self._writer = self._engine.execution_options(writes=True)

    def read(self, *, snapshot: bool = False) -> AbstractContextManager[Connection]:
        """Read in one transaction. With ``snapshot``, and always on SQLite, all reads see the same snapshot.

        Raises DatabaseRefused or DatabaseUnavailable.
        """
        frozen = snapshot and not self.is_sqlite
        engine = self._engine.execution_options(isolation_level="REPEATABLE READ") if frozen else self._engine
        return self._transaction(engine)

    def write(self) -> AbstractContextManager[Connection]:
        """Write in one transaction. On SQLite, this excludes all other writers.

        Raises DatabaseRefused, or DatabaseUnavailable if the database can't be reached, stays locked or is
        read-only.
        """
        return self._transaction(self._writer)

    @contextmanager
    def migrate(self) -> Iterator[Connection]:
        """Write in one transaction in which migrations may change tables.

        SQLite can change a table's constraints only by replacing the table, so foreign keys are checked only
        at the end. Raises the same errors as :meth:`write`, and IntegrityError if a foreign key refers to a
        missing row.
        """
        engine = self._writer.execution_options(replaces_tables=self.is_sqlite)
        try:
            with self._transaction(engine) as connection:
                yield connection
                if self.is_sqlite:
                    check_references(connection)
        finally:
            self._engine.dispose()  # so that no connection continues to ignore foreign keys

    def connect(self) -> Connection:
        """Open a connection in autocommit mode; the caller closes it."""
        return self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    @contextmanager
    def _transaction(self, engine: Engine) -> Iterator[Connection]:
        with self.translated_errors(), engine.begin() as connection:
            yield connection

    @contextmanager
    def translated_errors(self) -> Iterator[None]:
        """Turn driver errors caused by the database into StoreErrors."""
        try:
            yield
        except DBAPIError as error:
            redact_values(error)
            trouble = store_error_of(error, self.url)
            if trouble is None:
                raise
            if isinstance(trouble, DatabaseUnwritable):
                # A PostgreSQL session that began read-only stays read-only; only a new one can write again.
                self._engine.dispose()
            raise trouble from error


def from_row(kind: type[R], row: Row[*tuple[Any, ...]], **others: object) -> R:
    """Create an object from columns with the same names as its fields; ``others`` are the other fields."""
    return msgspec.convert(row._asdict() | others, prepared(kind))


def grouped(rows: Iterable[Row[*tuple[Any, ...]]], column: str) -> dict[Any, list[Any]]:
    """Group rows by their value in a column, keeping their order."""
    groups: dict[Any, list[Any]] = {}
    for row in rows:
        groups.setdefault(getattr(row, column), []).append(row)
    return groups


def count(connection: Connection, model: type[DeclarativeBase], *conditions: Any) -> int:  # noqa: ANN401 - as SQLAlchemy has it
    """Return the number of a table's rows that meet all conditions."""
    return connection.execute(select(func.count()).select_from(model).where(*conditions)).scalar_one()


def put(connection: Connection, model: type[DeclarativeBase], rows: list[dict[str, Any]]) -> None:
    """Insert rows, or replace those with the same keys."""
    if not rows:
        return
    new = upsert(connection, model)
    keys = [column.name for column in model.__table__.primary_key]
    others = {column.name: column for column in new.excluded if column.name not in keys}
    connection.execute(new.on_conflict_do_update(index_elements=keys, set_=others), rows)


def check_references(connection: Connection) -> None:
    """Check all foreign keys of an SQLite database. Raises IntegrityError if one refers to a missing row."""
    check = "PRAGMA foreign_key_check"
    if broken := connection.execute(text(check)).first():
        raise IntegrityError(
            check, None, ValueError(f"a foreign key in table {broken.table} refers to a missing row")
        )


def upsert(connection: Connection, model: type[DeclarativeBase]) -> "sqlite.Insert | postgresql.Insert":
    """Return an INSERT that supports ON CONFLICT, for a table and the connection's dialect."""
    # Import only the dialect in use: loading PostgreSQL's takes 25 ms.
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects.sqlite import insert as of_sqlite  # noqa: PLC0415 - as above

        return of_sqlite(model)
    from sqlalchemy.dialects.postgresql import insert as of_postgresql  # noqa: PLC0415 - as above

    return of_postgresql(model)


def sqlite_file(url: str) -> Path | None:
    """Return the path of an SQLite database, which may not exist yet, or None for PostgreSQL.

    Raises StoreError if the URL is invalid.
    """
    return _file_of(_address(url))


def _address(url: str) -> URL:
    """Parse a database URL. Raises StoreError if it is invalid, or the database is not supported."""
    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        address = None
    if address is None or "@" in (address.host or ""):
        # Never show an invalid URL: it may contain a password anywhere.
        raise StoreError(
            f"the database URL is invalid: {_SUPPORTED_URLS}. In a user name or password, write @ as %40, "
            "/ as %2F and : as %3A"
        )
    if address.drivername not in _DRIVERS:
        raise StoreError(f"{_redacted(address)} is not supported: {_SUPPORTED_URLS}")
    return address


def _redacted(address: URL) -> str:
    """Return a URL without passwords."""
    return address.difference_update_query(_SECRETS).render_as_string()


def _file_of(address: URL) -> Path | None:
    if address.get_backend_name() != "sqlite":
        return None
    if address.database in {None, "", ":memory:"}:
        raise StoreError(
            f"an in-memory SQLite database would be lost when the program exits: {_SUPPORTED_URLS}"
        )
    return Path(address.database or "")


def _postgresql(address: URL) -> Engine:
    """Create an engine that treats an unresponsive server as unreachable."""
    timeouts = {name: value for name, value in _TIMEOUTS.items() if name not in address.query}
    return create_engine(
        address,
        connect_args=timeouts,
        pool_pre_ping=True,
        # Independent of the server's default: after waiting for a lock, a transaction must see what the
        # lock's previous holder wrote.
        isolation_level="READ COMMITTED",
        **_COMMON_OPTIONS,
    )


def _sqlite(address: URL, file: Path) -> Engine:
    """Create an engine whose reads are snapshots and whose writes lock immediately."""
    folder = file.parent
    if not folder.is_dir():
        raise DatabaseUnavailable(f"the folder {folder} doesn't exist: create it, or choose another database")
    _create_as_folder_owner(file)
    engine = create_engine(address, connect_args={"timeout": _BUSY_SECONDS}, **_COMMON_OPTIONS)
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)
    return engine


def _create_as_folder_owner(file: Path) -> None:
    """If root creates a database in another user's folder, such as the site's, make that user the owner.

    SQLite itself gives the database's auxiliary files the same owner.
    """
    owner = file.parent.stat()
    if os.geteuid() != 0 or owner.st_uid == 0 or file.exists():
        return
    try:
        descriptor = os.open(file, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileExistsError:  # another process was first
        return
    try:
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
    finally:
        os.close(descriptor)


def _on_connect(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
    # By default, the driver begins a transaction at the first write, which fails if another process has
    # written since the first read. With None, the driver leaves that to _on_begin.
    connection.isolation_level = None
    cursor = connection.cursor()
    _switch_to_wal(cursor)
    for pragma in ("synchronous = FULL", "foreign_keys = ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _switch_to_wal(cursor: sqlite3.Cursor) -> None:
    """Switch to WAL mode. SQLite's busy timeout doesn't cover this statement, so retry it."""
    end = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if _sqlite_code(error) not in _LOCKED or time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return


def _on_begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    writes = options.get("writes", False)
    if options.get("replaces_tables", False):
        connection.exec_driver_sql("PRAGMA foreign_keys = OFF")  # ignored after BEGIN
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


_INTEGRITY_SECONDS: Final = 10.0
"""Time limit for the integrity check at startup: enough for a few gigabytes."""

_PROGRESS_INSTRUCTIONS: Final = 10_000
"""Number of SQLite VM instructions between checks of the time limit; at most a millisecond's worth."""


def check_integrity(connection: Connection, url: str, seconds: float = _INTEGRITY_SECONDS) -> None:
    """Check the integrity of an SQLite file within a time limit.

    Raises DatabaseRefused if the part read within that time is damaged.
    """
    end = time.monotonic() + seconds
    file: Any = connection.connection.driver_connection
    file.set_progress_handler(lambda: time.monotonic() > end, _PROGRESS_INSTRUCTIONS)
    try:
        problems = connection.execute(text("PRAGMA quick_check(1)")).scalars().all()
    except OperationalError as error:
        if getattr(error.orig, "sqlite_errorcode", None) != sqlite3.SQLITE_INTERRUPT:
            raise
        return
    finally:
        file.set_progress_handler(None, 0)
    if problems != ["ok"]:
        raise DatabaseRefused(
            f"{url} is damaged ({problems[0]}): move it aside, and restore a backup with `arena restore FILE`"
        )


class ChangeCounter:
    """A number that changes with every commit by any process. Not thread-safe.

    It is SQLite's ``data_version``. PostgreSQL has nothing like it that is cheaper than a query.
    """

    def __init__(self, database: Database) -> None:
        self._file = database.file
        self._connection: sqlite3.Connection | None = None

    def __call__(self) -> int | None:
        """Return the number; None on PostgreSQL or if it can't be read now."""
        if self._file is None:
            return None
        try:
            if self._connection is None:
                # Don't wait: the caller has another way to notice changes.
                self._connection = sqlite3.connect(self._file, timeout=0, check_same_thread=False)
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])
        except sqlite3.Error:
            return None

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
