"""SQLite's own look through a file."""

import sqlite3
import time
from typing import Any, Final

from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from arena.store.errors import DatabaseDamaged

_SECONDS: Final = 10.0
"""How long a start may look through a file: enough for some gigabytes."""

_STEPS: Final = 10_000
"""Of SQLite's machine, a millisecond or less, between two looks at the time."""


def check_integrity(connection: Connection, url: str, seconds: float = _SECONDS) -> None:
    """Look through an SQLite file, as far as that goes within some seconds.

    Raises:
        DatabaseDamaged: Something in what was read is wrong.
    """
    end = time.monotonic() + seconds
    file: Any = connection.connection.driver_connection
    file.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
    try:
        problems = connection.execute(text("PRAGMA quick_check(1)")).scalars().all()
    except OperationalError as error:
        if getattr(error.orig, "sqlite_errorcode", None) != sqlite3.SQLITE_INTERRUPT:
            raise
        return
    finally:
        file.set_progress_handler(None, 0)
    if problems != ["ok"]:
        raise DatabaseDamaged(
            f"{url} is damaged ({problems[0]}): move it away, and restore a backup with `arena restore FILE`"
        )
