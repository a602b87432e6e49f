"""Rows that follow from others, put right."""

from typing import Any, cast

from sqlalchemy import Connection, Table, and_, bindparam, delete, insert
from sqlalchemy.dialects import postgresql, sqlite

from arena.store.models import Base

Row = dict[str, Any]
"""One row of a table, by column."""


def replace(connection: Connection, model: type[Base], stored: list[Row], right: list[Row]) -> int:
    """Make the stored rows of a table what they should be, and return how many keys differed."""
    table = cast("Table", model.__table__)
    keys = [column.name for column in table.primary_key]
    old = {tuple(row[key] for key in keys): row for row in stored}
    new = {tuple(row[key] for key in keys): row for row in right}
    differing = [key for key in old.keys() | new.keys() if old.get(key) != new.get(key)]
    if gone := [key for key in differing if key in old]:
        same = and_(*(table.c[key] == bindparam(f"of_{key}") for key in keys))
        connection.execute(
            delete(table).where(same),
            [{f"of_{key}": value for key, value in zip(keys, each, strict=True)} for each in gone],
        )
    if come := [new[key] for key in differing if key in new]:
        connection.execute(insert(table), come)
    return len(differing)


def add(connection: Connection, model: type[Base], rows: list[Row]) -> None:
    """Add rows to those of the same keys, or insert them."""
    if not rows:
        return
    table = cast("Table", model.__table__)
    new = (sqlite if connection.dialect.name == "sqlite" else postgresql).insert(table)
    sums = {
        column.name: column + new.excluded[column.name] for column in table.columns if not column.primary_key
    }
    connection.execute(new.on_conflict_do_update(index_elements=list(table.primary_key), set_=sums), rows)
