"""The tables of a database as it is."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, MetaData, func, insert, select, update

from arena.db.opening import VERSION_TABLE

Row = Mapping[str, Any]


class Tables:
    """Takes rows and writes them.

    Args:
        connection: To a database, for writing.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._tables = _reflected(connection).tables

    def add(self, name: str, rows: Sequence[Row]) -> None:
        """Add rows. The ladder's one row, which every database has, is changed instead."""
        table = self._tables[name]
        if name == "ladder":
            self._connection.execute(update(table).values(rows[0]))
        else:
            self._connection.execute(insert(table), rows)

    def go_on_counting(self) -> None:
        """Let PostgreSQL number the next rows from the last ones that were added."""
        if self._connection.dialect.name != "postgresql":
            return
        for table in self._tables.values():
            for key in table.primary_key.columns:
                if key.server_default is not None:
                    series = func.pg_get_serial_sequence(f'"{table.name}"', key.name)
                    self._connection.execute(select(func.setval(series, func.max(key))))


def held(connection: Connection) -> dict[str, dict[tuple[Any, ...], Row]]:
    """Return all rows of all tables, by table and primary key."""
    return {
        table.name: {
            tuple(row[key.name] for key in table.primary_key.columns): dict(row)
            for row in connection.execute(select(table)).mappings()
        }
        for table in _reflected(connection).tables.values()
    }


def _reflected(connection: Connection) -> MetaData:
    metadata = MetaData()
    metadata.reflect(connection, only=lambda name, _: name != VERSION_TABLE)
    return metadata
