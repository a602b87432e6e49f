"""Rows of a snapshot, into an empty database of either kind: all of them, or nothing."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alembic import command
from sqlalchemy import Connection, MetaData, Table, func, insert, inspect, select, text
from sqlalchemy.exc import StatementError

from arena.files import sync
from arena.store import audit
from arena.store.database import Database, sqlite_file
from arena.store.errors import DatabaseNotEmpty
from arena.store.migrate import alembic_config
from arena.store.people_models import AuditEntry
from arena.store.persons import NewAuditEntry
from arena.store.read_through import read_through
from arena.store.revision import VERSION_TABLE
from arena.store.row_values import check_rows

_ANOTHER = "name another database in ARENA_DATABASE_URL"


@dataclass(frozen=True, slots=True)
class TableToLoad:
    """Rows of one table.

    Attributes:
        columns: Their names, in the order of the values of a row.
        rows: How many there are.
        batches: Gives them, some at a time.
    """

    columns: tuple[str, ...]
    rows: int
    batches: Callable[[], Iterable[list[list[Any]]]]


def check_empty(url: str) -> None:
    """Make sure that there is no database, or nothing in it.

    Raises:
        DatabaseNotEmpty: There is.
        DatabaseUnavailable: It can't be reached.
    """
    if (file := sqlite_file(url)) is not None:
        if file.exists():
            raise DatabaseNotEmpty(f"there is a database at {file}: move it away, or {_ANOTHER}")
        return
    with closing(Database(url)) as database, database.read() as connection:
        _check_no_tables(connection, database.url)


def load(url: str, revision: str, tables: dict[str, TableToLoad], entry: NewAuditEntry) -> None:
    """Fill an empty database, and bring it to what this program needs.

    Args:
        url: Of the empty one. A file of SQLite must not be there: it appears when all is in it.
        revision: Of the rows.
        tables: By name, exactly those of that revision.
        entry: For the audit log.

    Raises:
        DatabaseNotEmpty: There is something in it.
        DatabaseUnavailable: It can't be reached, or its disk is full.
        OSError: The disk fails.
        ValueError: These aren't rows that an arena of that revision can have had.
        Exception: Of another kind, where nobody looked for what is wrong with them.
    """
    check_empty(url)
    file = sqlite_file(url)
    if file is None:
        _fill(url, revision, tables, entry)
        return
    remove_unfinished(url)
    part = _part(file)
    try:
        _fill(f"sqlite:///{part}", revision, tables, entry)
        sync(part)
        part.rename(file)
        sync(file.parent)
    except BaseException:
        remove_unfinished(url)
        raise


def holds(url: str, entry: NewAuditEntry) -> bool:
    """Tell whether :func:`load` has filled a database, with this entry for its audit log.

    Raises:
        StoreError: The database can't be used.
    """
    if (file := sqlite_file(url)) is not None and not file.exists():
        return False
    with closing(Database(url)) as database, database.read() as connection:
        return inspect(connection).has_table(AuditEntry.__tablename__) and audit.has(connection, entry)


def remove_unfinished(url: str) -> None:
    """Remove what is left where :func:`load` was killed."""
    if (file := sqlite_file(url)) is not None:
        for end in ("", "-wal", "-shm", "-journal"):
            _part(file).with_name(f"{_part(file).name}{end}").unlink(missing_ok=True)


def _part(file: Path) -> Path:
    return file.with_name(f"{file.name}.restoring")


def _fill(url: str, revision: str, tables: dict[str, TableToLoad], entry: NewAuditEntry) -> None:
    """Fill a database in one transaction."""
    with closing(Database(url)) as database, _refused(), database.write() as connection:
        _check_no_tables(connection, database.url)
        command.upgrade(alembic_config(connection), revision)
        made = MetaData()
        made.reflect(connection, only=lambda name, _: name != VERSION_TABLE)
        if tables.keys() != made.tables.keys():
            raise ValueError(f"the tables are not those of revision {revision}")
        for table in reversed(made.sorted_tables):
            connection.execute(table.delete())  # the migrations write a few rows of their own
        for table in made.sorted_tables:
            _fill_table(connection, table, tables[table.name])
        command.upgrade(alembic_config(connection), "head")
        read_through(connection, entry.at)
        audit.record(connection, entry)


@contextmanager
def _refused() -> Iterator[None]:
    """Say in words of the database's own what it does not take."""
    try:
        yield
    except StatementError as error:
        raise ValueError(str(error.orig or error)) from error


def _check_no_tables(connection: Connection, url: str) -> None:
    if tables := inspect(connection).get_table_names():
        raise DatabaseNotEmpty(f"{url} is not empty ({tables[0]}, …): {_ANOTHER}")


def _fill_table(connection: Connection, table: Table, rows: TableToLoad) -> None:
    if sorted(rows.columns) != sorted(table.columns.keys()):
        raise ValueError(f"the columns of {table.name} are not those of its revision")
    count = 0
    for batch in rows.batches():
        check_rows(table, rows.columns, batch)
        count += len(batch)
        if batch:
            connection.execute(insert(table), [dict(zip(rows.columns, row, strict=True)) for row in batch])
    if count != rows.rows:
        raise ValueError(f"{table.name} has {count} rows, and should have {rows.rows}")
    if connection.dialect.name == "postgresql":
        _count_on(connection, table)


def _count_on(connection: Connection, table: Table) -> None:
    """Let the numbers that PostgreSQL gives to new rows go on after those that there are."""
    for column in table.primary_key:
        sequence = connection.execute(
            text("SELECT pg_get_serial_sequence(:table, :column)"),
            {"table": f'"{table.name}"', "column": column.name},
        ).scalar_one()
        if sequence is None:
            continue
        highest = connection.execute(select(func.max(column))).scalar_one()
        if highest is not None:
            connection.execute(select(func.setval(sequence, highest)))
