"""The tables of a database as it is, whatever its revision."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, MetaData, func, insert, inspect, select, update

from arena.store.revision import VERSION_TABLE

Row = Mapping[str, Any]


class Tables:
    """Takes rows of the newest revision, and writes as much of them as there is a place for.

    Args:
        connection: To a database, for writing.
        revision: What it is at.
    """

    def __init__(self, connection: Connection, revision: str) -> None:
        self._connection = connection
        self._revision = revision
        self._tables = _reflected(connection).tables

    def since(self, revision: str) -> bool:
        """Tell whether it knows what came with a revision."""
        return self._revision >= revision

    def add(self, name: str, rows: Sequence[Row]) -> None:
        """Add rows. The ladder's one row, which every database has, is changed instead."""
        if name not in self._tables:
            return
        table = self._tables[name]
        known = [{key: value for key, value in row.items() if key in table.columns} for row in rows]
        if name == "ladder":
            self._connection.execute(update(table).values(known[0]))
        else:
            self._connection.execute(insert(table), known)

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


def shape(connection: Connection) -> set[tuple[str, str]]:
    """Return what the tables are made of: their names, each with a part of it in words."""
    look = inspect(connection)
    return {
        (name, _words(part))
        for name in look.get_table_names()
        for part in (
            *look.get_columns(name),
            look.get_pk_constraint(name),
            *look.get_foreign_keys(name),
            *look.get_unique_constraints(name),
            *look.get_check_constraints(name),
            *look.get_indexes(name),
        )
    }


def _words(part: Mapping[str, Any]) -> str:
    options = part.get("dialect_options", {})
    of_index = {key: str(value) for key, value in options.items()}  # conditions are objects
    return str(sorted((key, str(of_index if value is options else value)) for key, value in part.items()))


def _reflected(connection: Connection) -> MetaData:
    metadata = MetaData()
    metadata.reflect(connection, only=lambda name, _: name != VERSION_TABLE)
    return metadata
