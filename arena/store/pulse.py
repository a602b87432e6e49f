"""Whether anybody has written to the database, told in a microsecond or two."""

import sqlite3

from sqlalchemy import make_url

from arena.store.database import Database


class Pulse:
    """Gives another number after each commit, whoever made it. One thread at a time may ask.

    SQLite keeps such a number for each connection. PostgreSQL would have to be asked as for anything else, so
    there is none.

    Args:
        database: Which.
    """

    def __init__(self, database: Database) -> None:
        self._file = make_url(database.url).database if database.is_sqlite else None
        self._connection: sqlite3.Connection | None = None

    def __call__(self) -> int | None:
        """Return the number; None where the database has none, or can't say just now."""
        if self._file is None:
            return None
        try:
            if self._connection is None:
                # Never waits: whoever asks has another way to find out.
                self._connection = sqlite3.connect(self._file, timeout=0, check_same_thread=False)
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])
        except sqlite3.Error:
            return None

    def close(self) -> None:
        """Ask no more."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
