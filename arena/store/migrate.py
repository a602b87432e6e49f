"""Bring a database to the tables of this program. Imports alembic; see :mod:`arena.store.revision`."""

from typing import Final

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from arena.store.database import Database
from arena.store.errors import DatabaseNewer
from arena.store.revision import revision_of

_LOCK: Final = 0x6B616974656E  # "kaiten"


def migrate(database: Database) -> None:
    """Bring a database to the newest revision. Several processes may do so at once.

    Raises:
        DatabaseForeign: There are tables, and they aren't Kaiten's.
        DatabaseNewer: It was made by a newer Kaiten.
        DatabaseUnavailable: It can't be reached.
    """
    with database.write() as connection:
        if not database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        revision = revision_of(connection, database.url)
        if revision is not None and not is_known(revision):
            raise DatabaseNewer(
                f"{database.url} was made by a newer Kaiten (its tables are at {revision}): "
                "install that version"
            )
        command.upgrade(alembic_config(connection), "head")


def alembic_config(connection: Connection | None = None) -> Config:
    """Return what alembic's commands need to work on a connection, inside its transaction."""
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", "arena.store:migrations")
    return config


def is_known(revision: str) -> bool:
    """Tell whether this program's migrations know a revision; if not, a newer program made it."""
    scripts = ScriptDirectory.from_config(alembic_config())
    return revision in {script.revision for script in scripts.walk_revisions()}
