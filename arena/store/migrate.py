"""Bring a database to the tables of this program, and refuse one that isn't ours."""

from functools import cache

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from arena.store.database import Database
from arena.store.errors import DatabaseChanged, DatabaseForeign, DatabaseNewer
from arena.store.integrity import check_integrity

VERSION_TABLE = "kaiten_schema"
"""Holds the revision. The name tells our databases from others that use alembic."""

_LOCK = 0x6B616974656E  # "kaiten"


def migrate(database: Database) -> None:
    """Check a database and bring it to the newest revision. Several processes may do so at once.

    Raises:
        DatabaseDamaged: SQLite's integrity check fails, or the file is no database.
        DatabaseForeign: There are tables, and they aren't Kaiten's.
        DatabaseNewer: It was made by a newer Kaiten.
        DatabaseUnavailable: It can't be reached.
    """
    newest = newest_revision()
    with database.read() as connection:
        if database.is_sqlite:
            check_integrity(connection, database.url)
        if _revision(connection, database.url) == newest:
            return
    with database.write() as connection:
        if not database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        _revision(connection, database.url)  # another process may have been here since
        command.upgrade(alembic_config(connection), "head")


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
    found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one_or_none()  # noqa: S608 - a name of ours
    if found != newest_revision():
        raise DatabaseChanged(
            f"the tables of {url} are at revision {found}, and this program needs {newest_revision()}: "
            "start it again, in the version of the program that changed them"
        )


@cache
def newest_revision() -> str:
    """Return the revision of the tables that this program needs."""
    return str(_scripts().get_current_head())


def alembic_config(connection: Connection | None = None) -> Config:
    """Return what alembic's commands need to work on a connection, inside its transaction."""
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", "arena.store:migrations")
    return config


def is_known(revision: str) -> bool:
    """Tell whether this program's migrations know a revision; if not, a newer program made it."""
    return revision in {script.revision for script in _scripts().walk_revisions()}


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(alembic_config())


def _revision(connection: Connection, url: str) -> str | None:
    """Return the revision of a database, None where it is empty.

    Raises:
        DatabaseForeign: There are tables, and they aren't Kaiten's.
        DatabaseNewer: It was made by a newer Kaiten.
    """
    tables = inspect(connection).get_table_names()
    if VERSION_TABLE not in tables:
        if tables:
            raise DatabaseForeign(f"{url} holds something else ({tables[0]}, …): name another database")
        return None
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    revision = context.get_current_revision()
    if revision is not None and not is_known(revision):
        raise DatabaseNewer(
            f"{url} was made by a newer Kaiten (its tables are at {revision}): install that version"
        )
    return revision
