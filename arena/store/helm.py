"""The helm of an arena: of all coordinators with containers on one database, one has it.

It is held by a lock that ends with whoever has it: with PostgreSQL that of a session, with SQLite that of a
file beside the database. Where the host at the other end of a session is gone, the server sees it in 20 s.
"""

import fcntl
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, Protocol

from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import DBAPIError

from arena.store.database import Database, sqlite_file
from arena.store.errors import DatabaseUnavailable

_LOCK: Final = 0x68656C6D  # "helm"

_KEEPALIVES: Final = {"tcp_keepalives_idle": 10, "tcp_keepalives_interval": 5, "tcp_keepalives_count": 2}
"""In seconds, and times. Without these a server waits two hours for a host that is gone."""


class Helm(Protocol):
    """That of one database. One thread at a time may use it."""

    def take(self) -> bool:
        """Take it, or make sure that it is still held; return whether it is.

        Whoever has lost it, as where the server was started anew, takes it again if nobody else was first.

        Raises:
            DatabaseUnavailable: The database can't be reached, so nobody can tell.
        """

    def let_go(self) -> None:
        """Let others take it."""


def helm_of(database: Database, url: str) -> Helm:
    """Return the helm of a database, which is not held yet."""
    file = sqlite_file(url)
    return _SessionsHelm(database) if file is None else _FilesHelm(file.with_name(f"{file.name}.lock"))


class _SessionsHelm:
    """Held as long as a session of PostgreSQL's lasts."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._session: Connection | None = None

    def take(self) -> bool:
        """See :class:`Helm`."""
        if self._session is not None:
            try:
                self._session.execute(text("SELECT 1"))
            except DBAPIError:
                self._end(self._session)
            else:
                return True
        with self._database.explained():
            session = self._database.connect()
            self._session = session
            held = False
            try:
                for setting, value in _KEEPALIVES.items():
                    session.execute(text(f"SET {setting} = {value}"))
                held = bool(session.execute(select(func.pg_try_advisory_lock(_LOCK))).scalar_one())
            finally:
                if not held:
                    self._end(session)
            return held

    def let_go(self) -> None:
        """See :class:`Helm`."""
        if self._session is not None:
            with suppress(DBAPIError):  # it ends with the session in any case, but a moment later
                self._session.execute(select(func.pg_advisory_unlock(_LOCK)))
            self._end(self._session)

    def _end(self, session: Connection) -> None:
        """Close a session for good: in the pool it would keep its lock."""
        self._session = None
        session.invalidate()
        session.close()


class _FilesHelm:
    """Held as long as a file is open in this process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[str] | None = None

    def take(self) -> bool:
        """See :class:`Helm`."""
        if self._file is not None:
            return True
        try:
            file = self._path.open("w")
        except OSError as error:
            raise DatabaseUnavailable(f"the lock {self._path}: {error.strerror}") from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return False
        self._file = file
        return True

    def let_go(self) -> None:
        """See :class:`Helm`."""
        if self._file is not None:
            self._file.close()
            self._file = None
