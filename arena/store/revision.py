"""Which tables a database has, and whether this program can work with them.

Apart from :mod:`arena.store.migrate`, which changes them: alembic costs a start a third of a second, and next
to none has anything to migrate.
"""

from typing import Final

from sqlalchemy import Connection, inspect, text

from arena.store.database import Database
from arena.store.errors import DatabaseChanged, DatabaseForeign

VERSION_TABLE: Final = "kaiten_schema"
"""Holds the revision. The name tells our databases from others that use alembic."""

NEWEST_REVISION: Final = "0012"
"""Of the tables that this program needs: the last of ``migrations/versions``."""


def check_tables(database: Database) -> None:
    """Make sure that a database which was opened is still one that this program can work with.

    Raises:
        DatabaseChanged: Another version of this program has changed the tables.
        DatabaseUnavailable: It can't be reached.
    """
    with database.read() as connection:
        check_revision(connection, database.url)


def check_revision(connection: Connection, url: str) -> None:
    """Do the same in a transaction.

    Raises:
        DatabaseChanged: Another version of this program has changed the tables.
    """
    found = _revision(connection)
    if found != NEWEST_REVISION:
        raise DatabaseChanged(
            f"the tables of {url} are at revision {found}, and this program needs {NEWEST_REVISION}: "
            "start it again, in the version of the program that changed them"
        )


def revision_of(connection: Connection, url: str) -> str | None:
    """Return the revision of a database, None where it is empty.

    Raises:
        DatabaseForeign: There are tables, and they aren't Kaiten's.
    """
    tables = inspect(connection).get_table_names()
    if VERSION_TABLE not in tables:
        if tables:
            raise DatabaseForeign(f"{url} holds something else ({tables[0]}, …): name another database")
        return None
    return _revision(connection)


def _revision(connection: Connection) -> str | None:
    asked = text(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608 - a name of ours
    return connection.execute(asked).scalar_one_or_none()
