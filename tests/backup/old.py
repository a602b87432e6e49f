"""Backups as an older program made them."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from alembic import command
from sqlalchemy import MetaData, select

from arena.backup.manifest import FORMAT, Manifest, TableSummary
from arena.backup.rows import packed
from arena.backup.writing import ArchiveWriter
from arena.store.database import Database
from arena.store.migrate import alembic_config
from arena.store.revision import VERSION_TABLE


def downgraded(url: str, revision: str, path: Path) -> None:
    """Bring a database down to a revision and write a backup of it, without anything but its rows."""
    with closing(Database(url)) as database:
        with database.write() as connection:
            command.downgrade(alembic_config(connection), revision)
        with database.read() as connection, path.open("wb") as file, ArchiveWriter(file) as archive:
            there = MetaData()
            there.reflect(connection, only=lambda name, _: name != VERSION_TABLE)
            tables = {}
            for table in there.sorted_tables:
                rows = [[_value(each) for each in row] for row in connection.execute(select(table))]
                archive.add(f"tables/{table.name}", packed([rows] if rows else []))
                tables[str(table.name)] = TableSummary(
                    columns=tuple(map(str, table.columns.keys())), rows=len(rows)
                )
            archive.end(
                Manifest(
                    format=FORMAT,
                    made=datetime(2026, 1, 1, tzinfo=UTC),
                    version="0.0.1",
                    install="old",
                    revision=revision,
                    tables=tables,
                    parts=archive.parts,
                )
            )


def _value(value: Any) -> Any:  # noqa: ANN401 - whatever a column holds
    """Return a value as the models give it: SQLite's moments know no time zone."""
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) and value.tzinfo is None else value
