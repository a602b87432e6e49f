"""A database's coordinator lock: only one coordinator that runs bots in containers may hold it.

It is released when its holder exits. On PostgreSQL, it is a session's advisory lock; on SQLite, it is a lock
on a file next to the database. PostgreSQL notices the loss of a session's host within 20 s.
"""

import fcntl
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, Protocol

from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import DBAPIError

from arena.db.database import Database
from arena.db.errors import DatabaseUnavailable

_LOCK: Final = 0x68656C6D  # arbitrary, but the same in every version of the program

_KEEPALIVES: Final = {"tcp_keepalives_idle": 10, "tcp_keepalives_interval": 5, "tcp_keepalives_count": 2}
"""Times in seconds, and a number of probes. By default, a server notices a lost host only after two hours."""


class CoordinatorLock(Protocol):
    """A database's lock. Not thread-safe."""

    def take(self) -> bool:
        """Take the lock, or check that this process still holds it; return True if it does.

        If the lock was lost, for example because the server restarted, try to take it again. Raises
        DatabaseUnavailable.
        """

    def release(self) -> None:
        """Release the lock."""


def coordinator_lock_of(database: Database) -> CoordinatorLock:
    """Return a database's lock without taking it."""
    file = database.file
    return _PostgresLock(database) if file is None else _FileLock(file.with_name(f"{file.name}.lock"))


class _PostgresLock:
    """An advisory lock held by a PostgreSQL session."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._session: Connection | None = None

    def take(self) -> bool:
        """See :class:`CoordinatorLock`."""
        if self._session is not None:
            try:
                self._session.execute(text("SELECT 1"))
            except DBAPIError:
                self._close_session(self._session)
            else:
                return True
        with self._database.translated_errors():
            session = self._database.connect()
            self._session = session
            held = False
            try:
                for setting, value in _KEEPALIVES.items():
                    session.execute(text(f"SET {setting} = {value}"))
                held = bool(session.execute(select(func.pg_try_advisory_lock(_LOCK))).scalar_one())
            finally:
                if not held:
                    self._close_session(session)
            return held

    def release(self) -> None:
        """See :class:`CoordinatorLock`."""
        if self._session is not None:
            with suppress(DBAPIError):  # the end of the session releases it anyway, a moment later
                self._session.execute(select(func.pg_advisory_unlock(_LOCK)))
            self._close_session(self._session)

    def _close_session(self, session: Connection) -> None:
        """Close a session permanently: in the pool, it would keep the lock."""
        self._session = None
        session.invalidate()
        session.close()


class _FileLock:
    """A lock on a file that this process keeps open."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[str] | None = None

    def take(self) -> bool:
        """See :class:`CoordinatorLock`."""
        if self._file is not None:
            return True
        try:
            file = self._path.open("w")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.close()
                raise
        except BlockingIOError:
            return False
        except OSError as error:
            raise DatabaseUnavailable(
                f"can't lock the file {self._path} ({error.strerror}): check that this user may write to it, "
                "and that its file system supports locks"
            ) from error
        self._file = file
        return True

    def release(self) -> None:
        """See :class:`CoordinatorLock`."""
        if self._file is not None:
            self._file.close()
            self._file = None
