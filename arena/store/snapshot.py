"""All rows of a store as they are at one moment, while others go on writing."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Table, select

from arena.store import submissions
from arena.store.database import Database
from arena.store.models import Base
from arena.store.revision import NEWEST_REVISION, check_revision
from arena.store.submitted import KnownSubmission

BATCH: Final = 100
"""Rows that are in memory at a time."""


@dataclass(frozen=True, slots=True)
class TableRows:
    """A table, and how to read it.

    Attributes:
        name: Of the table.
        columns: Their names, in the order of the values of a row.
    """

    name: str
    columns: tuple[str, ...]
    _connection: Connection
    _table: Table

    def batches(self) -> Iterator[list[list[Any]]]:
        """Yield all rows, some at a time, in the order of their keys."""
        rows = self._connection.execution_options(yield_per=BATCH).execute(
            select(self._table).order_by(*self._table.primary_key)
        )
        for batch in rows.partitions():
            yield [list(row) for row in batch]


class Snapshot:
    """What a store holds at one moment. From :func:`snapshot`.

    Attributes:
        revision: Of the tables.
        tables: All of them, those that others refer to first.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.revision = NEWEST_REVISION
        self.tables = tuple(
            TableRows(table.name, tuple(table.columns.keys()), connection, table)
            for table in Base.metadata.sorted_tables
        )

    def on_their_way(self) -> tuple[KnownSubmission, ...]:
        """Return the submissions that were not over, in the order of the queue."""
        return submissions.on_their_way(self._connection)


@contextmanager
def snapshot(database: Database) -> Iterator[Snapshot]:
    """Give what a store holds now. It stays so for as long as the context lasts, and nobody waits for it.

    Raises:
        DatabaseChanged: Its tables are no longer those of this program.
        DatabaseDamaged: The file is no database.
        DatabaseUnavailable: It can't be reached.
    """
    with database.read(snapshot=True) as connection:
        check_revision(connection, database.url)  # somebody may have changed them since they were opened
        yield Snapshot(connection)
