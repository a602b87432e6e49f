"""The audit log of operators' and users' actions.

Operators' entries are permanent. Users' entries ("visits") expire; they have an address, which may be
empty.
"""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, delete, func, insert, or_, select, update

from arena.db.schema import AuditEntryRow as Row


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAuditEntry:
    """An action by an operator, a user or a visitor."""

    at: datetime  # UTC
    who: str  # an account's name, or `terminal:` and a system user's name; empty if unknown
    what: str  # the action's name, such as `create-user`
    subject: str = ""  # `account:` or `bot:` and a name, `match:` and an id, or empty
    detail: str = ""  # additional facts, without account names
    address: str | None = None  # the client's address, empty if unknown; None for an operator's action


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry(NewAuditEntry):
    """An entry in the audit log, with its number."""

    number: int


MAX_VISITS: Final = 200_000
"""Maximum number of users' entries. Older ones are removed, so that password guessing can't fill the disk."""


def record(connection: Connection, entry: NewAuditEntry | None) -> None:
    """Add an entry, unless it is None."""
    if entry is not None:
        connection.execute(insert(Row).values(asdict(entry)))


def has(connection: Connection, entry: NewAuditEntry) -> bool:
    """Return True if the log has this entry."""
    same = select(Row.number).filter_by(**asdict(entry)).limit(1)
    return connection.execute(same).scalar_one_or_none() is not None


def last(connection: Connection, limit: int, account: str | None) -> tuple[AuditEntry, ...]:
    """Return the last ``limit`` entries, oldest first.

    If ``account`` is given, return only entries by or about this account, ignoring case.
    """
    query = select(Row.__table__)
    if account is not None:
        name = account.lower()
        query = query.where(or_(func.lower(Row.who) == name, func.lower(Row.subject) == f"account:{name}"))
    rows = connection.execute(query.order_by(Row.number.desc()).limit(limit)).all()
    return tuple(AuditEntry(**row._asdict()) for row in reversed(rows))


def rename(connection: Connection, name: str, pseudonym: str) -> None:
    """Replace an account's name with a pseudonym, and delete the addresses in its entries."""
    condition = or_(Row.who == name, Row.subject == f"account:{name}")
    connection.execute(update(Row).where(condition, Row.address.is_not(None)).values(address=""))
    connection.execute(update(Row).where(Row.who == name).values(who=pseudonym))
    connection.execute(
        update(Row).where(Row.subject == f"account:{name}").values(subject=f"account:{pseudonym}")
    )


def remove_visits(connection: Connection, before: datetime | None) -> int:
    """Remove users' entries before a time, if given, and the oldest over the limit; return their number."""
    visits = Row.address.is_not(None)
    first = (
        select(Row.number).where(visits).order_by(Row.number.desc()).offset(MAX_VISITS).limit(1)
    ).scalar_subquery()
    too_many = Row.number <= first
    due = too_many if before is None else or_(too_many, Row.at < before)
    return connection.execute(delete(Row).where(visits, due)).rowcount
