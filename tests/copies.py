"""Reusable copies of a PostgreSQL database."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, LiteralString

import psycopg
from psycopg import sql

from tests.postgresql import Cluster

if TYPE_CHECKING:
    from psycopg.abc import Query

_FEW_BYTES: Final = 4 * 1024 * 1024
_SIZE: Final = "SELECT pg_database_size(current_database())"
_OTHERS: Final = """
    SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
_TABLES: Final = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
_SEQUENCES: Final = "SELECT sequencename FROM pg_sequences WHERE schemaname = 'public'"
_CATALOGS: Final = ("pg_attribute", "pg_class", "pg_constraint", "pg_namespace", "pg_proc", "pg_trigger")
_SHAPE: Final = sql.SQL(" UNION ALL ").join(
    [
        sql.SQL("SELECT {}, count(*), max(xmin::text::bigint) FROM {}").format(name, sql.Identifier(name))
        for name in _CATALOGS
    ]
    + [
        sql.SQL("SELECT 'settings', count(*), 0 FROM pg_db_role_setting, pg_database")
        + sql.SQL(" WHERE setdatabase = pg_database.oid AND datname = current_database()")
    ]
)
"""A query whose result changes with every table, index, constraint, trigger, privilege and setting."""


class Copies:
    """Copies of a database. Each copy is used by one test at a time, and then reset.

    A reset takes a tenth of the time of creating and dropping a copy, which has three hundred files.
    """

    def __init__(self, cluster: Cluster, template: str) -> None:
        """Read the template. It must have no other connections."""
        self._cluster = cluster
        self._template = template
        self._free: list[str] = []
        with psycopg.connect(cluster.address(template)) as connection:
            self._most = _number(connection, _SIZE) + _FEW_BYTES
            self._shape = connection.execute(_SHAPE).fetchall()
            tables = [sql.Identifier(name) for (name,) in connection.execute(_TABLES)]
            sequences = [sql.Identifier(name) for (name,) in connection.execute(_SEQUENCES)]
            rows = [(table, _rows(connection, table)) for table in tables]
        self._rows = [(table, content) for table, content in rows if content]
        self._empty = sql.SQL("; ").join(
            [sql.SQL("SET session_replication_role = replica")]  # so that foreign keys aren't checked
            + [sql.SQL("DELETE FROM {}").format(table) for table in tables]
            + [sql.SQL("SELECT setval({}, 1, false)").format(name.as_string()) for name in sequences]
        )

    @contextmanager
    def one(self) -> Iterator[str]:
        """Yield the name of a copy that equals the template."""
        name = self._free.pop() if self._free else self._cluster.copy(self._template)
        yield name
        if self._restore(name):
            self._free.append(name)
        else:
            self._cluster.drop(name)

    def _restore(self, name: str) -> bool:
        """Reset a copy to the template. Return False if it is too large, or if not only rows have changed."""
        with psycopg.connect(self._cluster.address(name)) as connection:
            connection.execute(_OTHERS)
            if (
                _number(connection, _SIZE) > self._most
                or connection.execute(_SHAPE).fetchall() != self._shape
            ):
                return False
            connection.execute(self._empty)
            for table, content in self._rows:
                with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy:
                    copy.write(content)
        return True


def _number(connection: "psycopg.Connection[Any]", asked: LiteralString) -> int:
    row = connection.execute(asked).fetchone()
    assert row is not None
    return int(row[0])


def _rows(connection: "psycopg.Connection[Any]", table: sql.Identifier) -> bytes:
    asked: Query = sql.SQL("COPY {} TO STDOUT").format(table)
    with connection.cursor().copy(asked) as copy:
        return b"".join(bytes(part) for part in copy)
