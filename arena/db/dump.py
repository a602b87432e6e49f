"""Takes consistent snapshots of a database, even while it is being written to, and loads them."""

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    INTEGER,
    JSON,
    BigInteger,
    Boolean,
    Column,
    Connection,
    DateTime,
    Double,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    func,
    inspect,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError, StatementError
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.schema import AddConstraint, DropConstraint
from sqlalchemy.types import TypeDecorator

from arena.db import audit, queue
from arena.db.activity import ActivityRepository
from arena.db.audit import NewAuditEntry
from arena.db.card_counts import CardRepository
from arena.db.database import Database, OpenTransaction, check_references, sqlite_file
from arena.db.errors import DatabaseRefused, DatabaseUnavailable
from arena.db.matches import discard_deals
from arena.db.schema import OPEN_MATCH, AuditEntryRow, Base, GameRow, LadderRow, MatchRow, RatingEventRow
from arena.db.schema_revision import NEWEST_REVISION, VERSION_TABLE, check_revision, upgrade
from arena.db.standings import RatingRepository
from arena.db.submissions import KnownSubmission, SubmissionRepository
from arena.ladder.rating_events import LISTS
from arena.platform.files import sync
from arena.protocol.match import MatchSpec, decode

Rows = Sequence[Sequence[Any]]
ColumnCheck = Callable[[Sequence[Any]], bool]
"""Returns True if a column can store all these values, none of which is None."""

_MAX_INTEGER: Final = 2**53
"""Loaded integers must be below this limit, which is far above any arena's counts and leaves room to grow."""

_MAX_SMALL: Final = 2**31


def row_check(table: Table, columns: Sequence[str]) -> Callable[[Rows], None]:
    """Return a function that checks that rows, with values in the order of ``columns``, fit a table.

    The function raises ValueError if they don't. It checks a whole column at a time, which is several times
    as fast as checking the values one by one.
    """
    checks = [
        (name, _may_be_missing(table.columns[name]), _check_of(table.columns[name])) for name in columns
    ]

    def check(rows: Rows) -> None:
        for length in set(map(len, rows)):
            if length != len(checks):
                raise ValueError(f"a row of {table.name} has {length} values instead of {len(checks)}")
        for values, (name, optional, fits) in zip(zip(*rows, strict=True), checks, strict=bool(rows)):
            present = [value for value in values if value is not None]
            if not (fits(present) and (optional or len(present) == len(values))):
                raise ValueError(f"a row of {table.name} has an invalid {name}")

    return check


def _may_be_missing(column: Column[Any]) -> bool:
    return bool(column.nullable) and not column.primary_key


def _check_of(column: Column[Any]) -> ColumnCheck:
    kind = column.type.impl_instance if isinstance(column.type, TypeDecorator) else column.type
    if isinstance(kind, String):
        limit = math.inf if kind.length is None else kind.length
        return lambda values: (
            _all_are(str, values) and all(len(value) <= limit and "\0" not in value for value in values)
        )
    return next(fits for of, fits in _CHECK_BY_TYPE if isinstance(kind, of))


def _all_are(kind: type, values: Sequence[Any]) -> bool:
    return set(map(type, values)) <= {kind}


def _all_below(limit: int, values: Sequence[Any]) -> bool:
    return _all_are(int, values) and -limit < min(values, default=0) and max(values, default=0) < limit


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(type(each) in (int, str) for each in value)


_CHECK_BY_TYPE: Final[tuple[tuple[type[Any] | tuple[type[Any], ...], ColumnCheck], ...]] = (
    (Boolean, partial(_all_are, bool)),
    # INTEGER: the type in a table reflected from SQLite, which has only one integer type.
    ((BigInteger, INTEGER), partial(_all_below, _MAX_INTEGER)),
    (Integer, partial(_all_below, _MAX_SMALL)),
    ((Float, Double), lambda values: _all_are(float, values) and all(map(math.isfinite, values))),
    (DateTime, lambda values: all(isinstance(each, datetime) and each.tzinfo is not None for each in values)),
    (LargeBinary, partial(_all_are, bytes)),
    (JSON, lambda values: all(map(_is_list, values))),
)


def _gapless_count(connection: Connection, number: InstrumentedAttribute[int]) -> int | None:
    """Return the number of rows, or None if they aren't numbered from 1 without gaps."""
    first, last = func.coalesce(func.min(number), 1), func.coalesce(func.max(number), 0)
    found = connection.execute(select(first, last, func.count(number))).one()
    return found[2] if found[:2] == (1, found[2]) else None


BATCH: Final = 100
"""Number of rows in memory at a time."""


@dataclass(frozen=True, slots=True)
class TableRows:
    """A table, and how to read it. A row's values are in the order of ``columns``."""

    name: str
    columns: tuple[str, ...]
    _connection: Connection
    _table: Table
    check: Callable[[Rows], None]  # raises ValueError unless SQLite and PostgreSQL could both load the rows

    def batches(self) -> Generator[list[list[Any]], None, None]:
        """Yield all rows in batches, in the order of their keys. Close the generator if you stop early."""
        everything = select(self._table).order_by(*self._table.primary_key)
        with self._connection.execution_options(yield_per=BATCH).execute(everything) as rows:
            for batch in rows.partitions():
                yield [list(row) for row in batch]


class Snapshot:
    """A store's content at one moment."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.revision = NEWEST_REVISION  # of the tables
        # All tables, each after those that it references.
        self.tables = tuple(
            TableRows(table.name, columns, connection, table, row_check(table, columns))
            for table in Base.metadata.sorted_tables
            if (columns := tuple(table.columns.keys()))
        )

    def read_essentials(self, at: datetime) -> None:
        """Read what every page and every match needs, except the tables that grow with each game.

        Raises ValueError if the ladder's counts differ from its log, or if an open match differs from its
        specification. A row that this program can't have written may cause any exception.
        """
        connection = self._connection
        ladder = connection.execute(select(LadderRow.events, LadderRow.games)).one_or_none()
        if ladder != (
            _gapless_count(connection, RatingEventRow.number),
            _gapless_count(connection, GameRow.number),
        ):
            raise ValueError("the ladder's counts differ from its log")
        joined = OpenTransaction(connection)
        for players in LISTS:
            RatingRepository(joined).standings(players)
        activity = ActivityRepository(joined)
        activity.current(at)
        activity.workload(at)
        activity.hosts()
        CardRepository(joined).find()
        SubmissionRepository(joined).open_submissions()
        queue.MatchQueue(joined).quarantined()
        for match in connection.execute(select(MatchRow.id, MatchRow.spec).where(text(OPEN_MATCH))).all():
            spec = decode(match.spec, MatchSpec)
            if (spec.match, len(spec.seats)) != (match.id, len(queue.claimed_seats(connection, match.id))):
                raise ValueError(f"match {match.id} differs from its specification")

    def open_submissions(self) -> tuple[KnownSubmission, ...]:
        """Return the open submissions in the order of the queue."""
        return SubmissionRepository(OpenTransaction(self._connection)).open_submissions()


@contextmanager
def snapshot(database: Database) -> Iterator[Snapshot]:
    """Yield the store's current content, which stays the same within the context. Writers aren't blocked.

    Raises DatabaseChanged, DatabaseRefused or DatabaseUnavailable.
    """
    with database.read(snapshot=True) as connection:
        check_revision(connection, database.url)  # a newer version may have migrated the tables
        yield Snapshot(connection)


_ANOTHER = "set ARENA_DATABASE_URL to another database"


@dataclass(frozen=True, slots=True)
class TableToLoad:
    """Rows of one table. A row's values are in the order of ``columns``."""

    columns: tuple[str, ...]
    rows: int  # number of rows
    batches: Callable[[], Iterable[list[list[Any]]]]  # returns the rows in batches


def check_empty(url: str) -> None:
    """Check that an SQLite file doesn't exist, or that a PostgreSQL database has no tables.

    Raises DatabaseRefused or DatabaseUnavailable.
    """
    if (file := sqlite_file(url)) is not None:
        # SQLite would apply an earlier database's log to the new one.
        for each in _files_of(file):
            if each.exists():
                raise DatabaseRefused(f"{each} already exists: move it elsewhere, or {_ANOTHER}")
        return
    with closing(Database(url)) as database, database.read() as connection:
        _check_no_tables(connection, database.url)


def load(url: str, revision: str, tables: dict[str, TableToLoad], entry: NewAuditEntry) -> None:
    """Fill an empty database and migrate it to this program's revision.

    ``tables`` must be exactly the tables of ``revision``. An SQLite file must not exist yet, and appears only
    when it is complete. Raises DatabaseRefused; DatabaseUnavailable if the database can't be reached or its
    disk is full; OSError if the disk fails; and ValueError if no arena at that revision could contain
    these rows. Damage that no check covers may cause any other exception.
    """
    check_empty(url)
    file = sqlite_file(url)
    if file is None:
        _fill(url, revision, tables, entry)
        return
    remove_unfinished(url)
    part = _partial_file(file)
    try:
        _fill(f"sqlite:///{part}", revision, tables, entry)
        sync(part)
        part.rename(file)
        sync(file.parent)
    except BaseException:
        remove_unfinished(url)
        raise


def was_loaded(url: str, entry: NewAuditEntry) -> bool:
    """Return True if :func:`load` has filled this database with this audit entry. Raises StoreError."""
    if (file := sqlite_file(url)) is not None and not file.exists():
        return False
    with closing(Database(url)) as database, database.read() as connection:
        return inspect(connection).has_table(AuditEntryRow.__tablename__) and audit.has(connection, entry)


def remove_unfinished(url: str) -> None:
    """Remove the files that an interrupted :func:`load` left behind."""
    if (file := sqlite_file(url)) is not None:
        for each in _files_of(_partial_file(file)):
            each.unlink(missing_ok=True)


def _files_of(file: Path) -> tuple[Path, ...]:
    """Return the paths of an SQLite database and its auxiliary files."""
    return tuple(file.with_name(f"{file.name}{end}") for end in ("", "-wal", "-shm", "-journal"))


def _partial_file(file: Path) -> Path:
    return file.with_name(f"{file.name}.restoring")


def _fill(url: str, revision: str, tables: dict[str, TableToLoad], entry: NewAuditEntry) -> None:
    """Fill a database in one transaction."""
    with closing(Database(url)) as database, _as_value_error(), database.migrate() as connection:
        _check_no_tables(connection, database.url)
        upgrade(connection, revision)
        metadata = MetaData()
        metadata.reflect(connection, only=lambda name, _: name != VERSION_TABLE)
        if tables.keys() != metadata.tables.keys():
            raise ValueError(f"the tables differ from those of revision {revision}")
        for table in reversed(metadata.sorted_tables):
            connection.execute(table.delete())  # the migrations themselves insert a few rows
        with _deferred_references(connection, metadata):
            for table in metadata.sorted_tables:
                _fill_table(connection, table, tables[table.name])
        upgrade(connection)
        discard_deals(connection)
        Snapshot(connection).read_essentials(entry.at)
        audit.record(connection, entry)
    if (file := sqlite_file(url)) is not None and any(log.exists() for log in _files_of(file)[1:]):
        # SQLite ignores a full disk when it moves its log into the file on closing. The log then remains.
        raise DatabaseUnavailable(f"{url}: database or disk is full. Check that its disk has space")


@contextmanager
def _deferred_references(connection: Connection, metadata: MetaData) -> Iterator[None]:
    """Check foreign keys only after the last row. On PostgreSQL, checking each row would double the time."""
    keys = [key for table in metadata.sorted_tables for key in table.foreign_key_constraints]
    if connection.dialect.name != "postgresql":
        keys = []
    for key in keys:
        connection.execute(DropConstraint(key))
    yield
    if connection.dialect.name == "sqlite":
        check_references(connection)
    for key in keys:
        connection.execute(AddConstraint(key))


@contextmanager
def _as_value_error() -> Iterator[None]:
    """Turn the database's rejection of a row into a ValueError with the database's message."""
    try:
        yield
    except StatementError as error:
        raise ValueError(str(error.orig or error)) from error


def _check_no_tables(connection: Connection, url: str) -> None:
    if tables := inspect(connection).get_table_names():
        raise DatabaseRefused(f"{url} is not empty ({tables[0]}, …): {_ANOTHER}")


def _fill_table(connection: Connection, table: Table, rows: TableToLoad) -> None:
    if sorted(rows.columns) != sorted(table.columns.keys()):
        raise ValueError(f"the columns of {table.name} differ from those of its revision")
    count = 0
    check = row_check(table, rows.columns)
    with _row_adder(connection, table, rows.columns) as add:
        for batch in rows.batches():
            check(batch)
            count += len(batch)
            if batch:
                add(batch)
    if count != rows.rows:
        raise ValueError(f"{table.name} has {count} rows instead of {rows.rows}")
    if connection.dialect.name == "postgresql":
        _advance_sequences(connection, table)


@contextmanager
def _row_adder(
    connection: Connection, table: Table, columns: Sequence[str]
) -> Iterator[Callable[[Rows], object]]:
    """Yield a function that adds rows, like ``connection.execute(insert(table), …)`` but faster.

    PostgreSQL might reject a row only when the context ends.
    """
    dialect = connection.dialect
    quote = dialect.identifier_preparer.quote
    target = f"{quote(table.name)} ({', '.join(map(quote, columns))})"
    kinds = [table.columns[name].type.dialect_impl(dialect) for name in columns]
    converters = [kind.bind_processor(dialect) for kind in kinds]

    def converted(rows: Rows) -> list[tuple[Any, ...]]:
        values = [
            map(convert, column) if convert else column
            for convert, column in zip(converters, zip(*rows, strict=True), strict=True)
        ]
        return [*zip(*values, strict=True)]

    if dialect.name == "postgresql":
        with _copying(connection, f"COPY {target} FROM STDIN") as write:

            def add(rows: Rows) -> None:
                for row in converted(rows):
                    write(row)

            yield add
    else:
        statement = f"INSERT INTO {target} VALUES ({', '.join('?' * len(columns))})"  # noqa: S608 - quoted names
        yield lambda rows: connection.exec_driver_sql(statement, converted(rows))


@contextmanager
def _copying(connection: Connection, statement: str) -> Iterator[Callable[[Sequence[Any]], None]]:
    """Yield a function that copies a row to PostgreSQL. Driver errors are raised as SQLAlchemy errors."""
    dialect = connection.dialect
    errors = dialect.loaded_dbapi.Error
    driver: Any = connection.connection.driver_connection
    try:
        with driver.cursor() as cursor, cursor.copy(statement) as copy:
            yield copy.write_row
    except errors as error:
        raise DBAPIError.instance(
            statement, None, error, errors, hide_parameters=True, dialect=dialect
        ) from error


def _advance_sequences(connection: Connection, table: Table) -> None:
    """Advance PostgreSQL's sequences past the loaded rows."""
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
