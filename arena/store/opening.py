"""What a database goes through when it is opened."""

from arena.store.database import Database
from arena.store.integrity import check_integrity
from arena.store.revision import NEWEST_REVISION, revision_of


def bring_up_to_date(database: Database) -> None:
    """Check a database and bring it to the newest revision. Several processes may do so at once.

    Raises:
        DatabaseDamaged: SQLite's integrity check fails, or the file is no database.
        DatabaseForeign: There are tables, and they aren't Kaiten's.
        DatabaseNewer: It was made by a newer Kaiten.
        DatabaseUnavailable: It can't be reached.
    """
    with database.read() as connection:
        if database.is_sqlite:
            check_integrity(connection, database.url)
        if revision_of(connection, database.url) == NEWEST_REVISION:
            return
    from arena.store.migrate import migrate  # noqa: PLC0415 - alembic, which next to no start needs

    migrate(database)
