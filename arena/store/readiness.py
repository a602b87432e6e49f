"""Whether a store can be worked with: it answers, has the tables of this program, and takes writes.

Nothing is written to find out, and nobody who writes is held up for longer than a moment.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from sqlalchemy import text

from arena.store.database import Database, sqlite_file
from arena.store.errors import DatabaseUnwritable
from arena.store.revision import check_tables

_LOCKED_SECONDS: Final = 1.0
"""How long the lock of SQLite's file is waited for: longer than games have it, shorter than anybody asks."""


def check(database: Database) -> None:
    """Make sure that a database which was opened can be worked with.

    Raises:
        DatabaseChanged: Another version of this program has changed the tables.
        DatabaseUnavailable: It can't be reached.
        DatabaseUnwritable: It can be read alone.
    """
    check_tables(database)
    file = sqlite_file(database.url)
    if file is None:
        with database.write() as connection:
            # No row is looked at, yet a server that is read-only refuses it, as it would a result.
            connection.execute(text("DELETE FROM ladder WHERE false"))
    else:
        _try_lock(file)


def _try_lock(file: Path) -> None:
    """Take the lock that everybody needs who writes to a file, and give it back at once."""
    try:
        # A connection of its own: that of others would wait for a minute, and know the file by its old name.
        with closing(
            sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True, timeout=_LOCKED_SECONDS)
        ) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.rollback()
    except sqlite3.Error as error:
        raise DatabaseUnwritable(
            f"{file}: {error}. Is it still there, may this user write to it, does somebody hold it locked?"
        ) from error
