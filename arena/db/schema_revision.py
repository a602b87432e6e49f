"""Checks and migrates a database when it is opened, and checks it while it is open."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, inspect, text

from arena.db.coordinator_lock import CoordinatorLock
from arena.db.database import Database, check_integrity
from arena.db.errors import DatabaseChanged, DatabaseRefused, DatabaseUnwritable

if TYPE_CHECKING:
    from alembic.config import Config

_LOCK: Final = 0x6B616974656E  # "kaiten"

SCRIPTS: Final = "arena.db:migrations"
"""Location of the migrations for alembic."""

VERSION_TABLE: Final = "kaiten_schema"
"""The table with the revision. Its name distinguishes Kaiten's databases from others that use alembic."""

FIRST_REVISION: Final = "0100"
"""The first revision in ``migrations/versions``. Revisions are four-digit numbers in increasing order."""

NEWEST_REVISION: Final = "0105"
"""The revision that this program needs: the last in ``migrations/versions``."""

NO_UPGRADE: Final = "which predates the first release and can't be read or upgraded by this version"
"""Part of messages about tables older than the first revision."""


def check_revision(connection: Connection, url: str) -> None:
    """Check that the tables are at this program's revision. Raises DatabaseChanged."""
    found = _revision(connection)
    if found != NEWEST_REVISION:
        raise DatabaseChanged(
            f"the tables of {url} are at revision {found}, but this program needs {NEWEST_REVISION}: "
            "restart it with the version that changed the tables"
        )


def revision_of(connection: Connection, url: str) -> str | None:
    """Return the revision of a database, or None if it is empty.

    Raises DatabaseRefused if it belongs to another program, or was made before the first release.
    """
    tables = inspect(connection).get_table_names()
    if VERSION_TABLE not in tables:
        if tables:
            raise DatabaseRefused(
                f"{url} is not an arena database (it has the table {tables[0]}): choose another one"
            )
        return None
    revision = _revision(connection)
    if revision is not None and revision < FIRST_REVISION:
        raise DatabaseRefused(
            f"the tables of {url} are at revision {revision}, {NO_UPGRADE}: set "
            "ARENA_DATABASE_URL to an empty database, or move this one aside. To keep its games, use the "
            "version that made it"
        )
    return revision


def _revision(connection: Connection) -> str | None:
    query = text(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608 - a constant
    return connection.execute(query).scalar_one_or_none()


def bring_up_to_date(database: Database, lock: CoordinatorLock, *, migrates: bool) -> None:
    """Check a database and migrate it to the latest revision. Several processes may do so concurrently.

    An empty database always gets its tables. Older tables are migrated only if ``migrates`` is True, under
    the coordinator lock, which a running arena holds.

    Raises DatabaseUnavailable, or DatabaseRefused if the database is damaged, belongs to another program, is
    in use by an older version, or was made by a newer version or before the first release. If ``migrates`` is
    False, it is also refused if its tables are older.
    """
    with database.read() as connection:
        if database.is_sqlite:
            check_integrity(connection, database.url)
        revision = revision_of(connection, database.url)
    if revision == NEWEST_REVISION:
        return
    if revision is None or not is_known(revision):
        _migrate(database)
        return
    if not migrates:
        raise DatabaseRefused(
            f"the tables of {database.url} are at revision {revision}, but this program needs "
            f"{NEWEST_REVISION}: use the same version as the arena that is using this database, or stop "
            "that arena and start this version, which migrates the tables"
        )
    if not lock.take():
        raise DatabaseRefused(
            f"another arena is using {database.url}, or is migrating it: if that arena is an older version, "
            "stop it, make a backup, then start this version"
        )
    try:
        _migrate(database)
    finally:
        lock.release()


def _migrate(database: Database) -> None:
    """Migrate a database to the latest revision. Several processes may do so concurrently."""
    with database.migrate() as connection:
        if not database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        revision = revision_of(connection, database.url)
        if revision is not None and not is_known(revision):
            raise DatabaseRefused(
                f"{database.url} was made by a newer version of Kaiten (its tables are at revision "
                f"{revision}): install that version"
            )
        upgrade(connection)


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Migrate a database to a revision."""
    from alembic import command  # noqa: PLC0415 - few starts need alembic

    command.upgrade(alembic_config(connection), revision)


def alembic_config(connection: Connection | None = None) -> "Config":
    """Return alembic's configuration for a connection, within its transaction."""
    from alembic.config import Config  # noqa: PLC0415 - as above

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", SCRIPTS)
    return config


def is_known(revision: str) -> bool:
    """Return True if this program has the migration to a revision. If not, the revision is newer."""
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - as above

    scripts = ScriptDirectory.from_config(alembic_config())
    return revision in {script.revision for script in scripts.walk_revisions()}


_BUSY_SECONDS: Final = 1.0
"""Timeout for SQLite's write lock: longer than storing a match takes, and shorter than the interval between
checks."""


def check(database: Database) -> None:
    """Check that an open database has this program's tables and accepts writes.

    Raises DatabaseChanged, DatabaseUnavailable or DatabaseUnwritable.
    """
    with database.read() as connection:
        check_revision(connection, database.url)
    if database.file is None:
        with database.write() as connection:
            # This statement matches no rows, but a read-only server rejects it like any other write.
            connection.execute(text("DELETE FROM ladder WHERE false"))
    else:
        _try_lock(database.file)


def _try_lock(file: Path) -> None:
    """Take SQLite's write lock, and release it immediately."""
    try:
        # A pooled connection would wait for a minute, and might still have a moved file open.
        with closing(
            sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True, timeout=_BUSY_SECONDS)
        ) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.rollback()
    except sqlite3.Error as error:
        raise DatabaseUnwritable(
            f"{file}: {error}. Check that it exists, that this user may write to it, "
            "and that no other program has locked it"
        ) from error
