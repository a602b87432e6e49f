"""Whether values are such as a column holds. SQLite takes any value anywhere, and would not ask."""

import math
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import JSON, Boolean, Column, DateTime, Double, Float, Integer, LargeBinary, String, Table

Holds = Callable[[Any], bool]
"""Tells whether a value is one that a column can have been read with."""

_MOST: Final = 2**53
"""No arena counts so far. It leaves room for those that are numbered after it."""


def check_rows(table: Table, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Make sure of rows of values that they can be those of a table.

    Args:
        table: As it is in the database.
        columns: Names of all of its columns, in the order of the values of a row.
        rows: The values.

    Raises:
        ValueError: They aren't.
    """
    held = [(name, _may_be_missing(table.columns[name]), _held_by(table.columns[name])) for name in columns]
    for row in rows:
        if len(row) != len(held):
            raise ValueError(f"a row of {table.name} has {len(row)} values instead of {len(held)}")
        for value, (name, optional, holds) in zip(row, held, strict=True):
            if not (optional if value is None else holds(value)):
                raise ValueError(f"a row of {table.name} has no {name} that could be one")


def _may_be_missing(column: Column[Any]) -> bool:
    return bool(column.nullable) and not column.primary_key


def _held_by(column: Column[Any]) -> Holds:
    kind = column.type
    if isinstance(kind, String):
        most = math.inf if kind.length is None else kind.length
        return lambda value: type(value) is str and len(value) <= most
    return next(holds for of, holds in _HOLDS if isinstance(kind, of))


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(type(each) in (int, str) for each in value)


_HOLDS: Final[tuple[tuple[type[Any] | tuple[type[Any], ...], Holds], ...]] = (
    (Boolean, lambda value: type(value) is bool),
    (Integer, lambda value: type(value) is int and -_MOST < value < _MOST),
    ((Float, Double), lambda value: type(value) is float and math.isfinite(value)),
    (DateTime, lambda value: isinstance(value, datetime) and value.tzinfo is not None),
    (LargeBinary, lambda value: type(value) is bytes),
    (JSON, _is_list),
)
