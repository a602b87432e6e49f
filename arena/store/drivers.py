"""What errors of the drivers of SQLite and PostgreSQL mean: most, that a database is away for a while."""

import re
import sqlite3
from typing import Final

from psycopg import Error as PostgresError
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from arena.store.errors import DatabaseDamaged, DatabaseUnavailable, DatabaseUnwritable, StoreError

_READ_ONLY: Final = "25006"
_AWAY: Final = frozenset({"25P03", "25P04", "42501"})
"""States of SQL that the driver takes for something else: sessions that the server has ended, rights that are
missing."""

_WRONG_VALUE: Final = "22"
"""The class of states whose messages quote the value."""


def forget_values(error: DBAPIError) -> None:
    """Leave of what PostgreSQL says the first line: others hold values of rows. Errors reach the log."""
    cause = error.orig
    if not isinstance(cause, PostgresError) or cause.diag.message_primary is None:
        return
    words = cause.diag.message_primary
    if (cause.sqlstate or "").startswith(_WRONG_VALUE):
        words = re.sub('".*"', '"…"', words, flags=re.DOTALL)
    error.args = (f"({type(cause).__module__}.{type(cause).__name__}) {words}",)
    cause.args = (words,)


def meaning(error: DBAPIError, url: str) -> StoreError | None:
    """Return what an error means for whoever uses the store, or None where it is a defect of the caller's.

    Args:
        error: Of SQLAlchemy, around that of a driver.
        url: Of the database, without a password.
    """
    words = " ".join(str(error.orig).split())
    if _is_read_only(error):
        return DatabaseUnwritable(
            f"{url}: {words}. It can be read alone: let it take writes, or name another one that does"
        )
    if isinstance(error, (OperationalError, InterfaceError)) or _state(error) in _AWAY:
        return DatabaseUnavailable(
            f"{url}: {words}. Is it there, may this user write to it, has its disk space left?"
        )
    if _sqlite_code(error) in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
        return DatabaseDamaged(
            f"{url}: {words}. Move the file away, and restore a backup with `arena restore FILE` or "
            "start anew"
        )
    return None


def _is_read_only(error: DBAPIError) -> bool:
    return _state(error) == _READ_ONLY or _sqlite_code(error) == sqlite3.SQLITE_READONLY


def _state(error: DBAPIError) -> str | None:
    return error.orig.sqlstate if isinstance(error.orig, PostgresError) else None


def _sqlite_code(error: DBAPIError) -> int | None:
    if not isinstance(error.orig, sqlite3.Error):
        return None
    code = getattr(error.orig, "sqlite_errorcode", None)  # the driver's own errors have none
    return None if code is None else code & 0xFF  # the rest tells kinds of the same error apart
