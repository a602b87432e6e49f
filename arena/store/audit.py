"""The log of what operators did. It only grows."""

from dataclasses import fields

from sqlalchemy import Connection, exists, insert, select, update

from arena.store.people_models import AuditEntry as Row
from arena.store.persons import AuditEntry, NewAuditEntry


def record(connection: Connection, entry: NewAuditEntry | None) -> None:
    """Add an entry, if there is one."""
    if entry is not None:
        connection.execute(
            insert(Row).values(
                at=entry.at, who=entry.who, what=entry.what, subject=entry.subject, detail=entry.detail
            )
        )


def has(connection: Connection, entry: NewAuditEntry) -> bool:
    """Tell whether an entry is there."""
    same = (getattr(Row, field.name) == getattr(entry, field.name) for field in fields(entry))
    return bool(connection.execute(select(exists().where(*same))).scalar_one())


def last(connection: Connection, limit: int) -> tuple[AuditEntry, ...]:
    """Return the last entries, oldest first."""
    rows = connection.execute(select(Row.__table__).order_by(Row.number.desc()).limit(limit)).all()
    return tuple(AuditEntry(**row._asdict()) for row in reversed(rows))


def rename(connection: Connection, name: str, pseudonym: str) -> None:
    """Put a pseudonym in place of an account's name."""
    connection.execute(update(Row).where(Row.who == name).values(who=pseudonym))
    connection.execute(
        update(Row).where(Row.subject == f"account:{name}").values(subject=f"account:{pseudonym}")
    )
