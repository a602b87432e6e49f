"""Make SQLAlchemy's engines faster in tests, which open thousands of them."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, event
from sqlalchemy.engine import Dialect, Engine
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.pool import Pool
from sqlalchemy.util import LRUCache

_STATEMENTS: LRUCache[Any, Any] = LRUCache(2000)


def hasten() -> None:
    """Make engines share compiled statements, and keep SQLite from waiting for the disk.

    Otherwise each test would compile its statements again, which takes a third of a short test's time. Only a
    power cut would show that SQLite doesn't wait.
    """

    def same(one: Dialect, other: object) -> bool:
        return type(one) is type(other)

    def number(one: Dialect) -> int:
        return hash(type(one))

    # The dialect is part of a statement's cache key, and each engine creates its own dialect.
    DefaultDialect.__eq__ = same  # type: ignore[assignment,method-assign]
    DefaultDialect.__hash__ = number  # type: ignore[assignment,method-assign]
    event.listen(Engine, "engine_connect", _share)
    event.listen(Pool, "checkout", _do_not_wait)


@contextmanager
def waiting() -> Iterator[None]:
    """Make SQLite wait for the disk, as it does outside tests."""
    event.remove(Pool, "checkout", _do_not_wait)
    try:
        yield
    finally:
        event.listen(Pool, "checkout", _do_not_wait)


def _share(connection: Connection) -> None:
    connection.engine._compiled_cache = _STATEMENTS  # noqa: SLF001 - the public parameter sets only the size


def _do_not_wait(connection: object, _record: object, _proxy: object) -> None:
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous = OFF")
