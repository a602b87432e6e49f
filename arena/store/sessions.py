"""Browsers that are logged in."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, insert, or_, select, update

from arena.store.accounts import COLUMNS, known
from arena.store.people_models import Account, Session
from arena.store.persons import NewSession, OpenSession


def add(connection: Connection, new: NewSession) -> int:
    """Add a session and return its id."""
    values = {
        "account_id": new.account,
        "hash": new.hash,
        "browser": new.browser,
        "created": new.created,
        "seen": new.created,
    }
    return int(connection.execute(insert(Session).values(values).returning(Session.id)).scalar_one())


def find(connection: Connection, hash_: str) -> OpenSession | None:
    """Return the session with this hash, or None; one that came after its account was deleted is none."""
    wanted = _sessions().where(Session.hash == hash_, Account.deleted.is_(None))
    row = connection.execute(wanted).one_or_none()
    return None if row is None else _open(row)


def of_account(connection: Connection, account: int) -> tuple[OpenSession, ...]:
    """Return the sessions of an account, the one that was seen last first."""
    wanted = _sessions().where(Session.account_id == account)
    return tuple(_open(row) for row in connection.execute(wanted.order_by(Session.seen.desc(), Session.id)))


def seen(connection: Connection, session: int, at: datetime) -> None:
    """Note when a session was last in use."""
    connection.execute(update(Session).where(Session.id == session).values(seen=at))


def end(connection: Connection, hash_: str) -> None:
    """End the session with this hash, if there is one."""
    connection.execute(delete(Session).where(Session.hash == hash_))


def end_of_account(connection: Connection, account: int, session: int) -> bool:
    """End a session; False where this account has none of that id."""
    ended = connection.execute(delete(Session).where(Session.id == session, Session.account_id == account))
    return ended.rowcount > 0


def end_all(connection: Connection, account: int, *, keep: int | None = None) -> None:
    """End all sessions of an account, but for one."""
    wanted = delete(Session).where(Session.account_id == account)
    connection.execute(wanted if keep is None else wanted.where(Session.id != keep))


def end_old(connection: Connection, created_before: datetime, seen_before: datetime) -> int:
    """End all sessions that began or were last seen too long ago; return how many."""
    old = or_(Session.created <= created_before, Session.seen <= seen_before)
    return connection.execute(delete(Session).where(old)).rowcount


def _sessions() -> Select[*tuple[Any, ...]]:
    return select(
        *COLUMNS,
        Session.id.label("session"),
        Session.browser,
        Session.created.label("begun"),
        Session.seen,
    ).join(Account, Account.id == Session.account_id)


def _open(row: Row[*tuple[Any, ...]]) -> OpenSession:
    return OpenSession(
        id=row.session, account=known(row), browser=row.browser, created=row.begun, seen=row.seen
    )
