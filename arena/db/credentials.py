"""Browser sessions and API tokens.

The caller creates and hashes the secrets; the store holds only hashes.
"""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, delete, insert, or_, select, update

from arena.db import audit
from arena.db.audit import NewAuditEntry
from arena.db.database import Repository, count, from_row
from arena.db.errors import CredentialsChanged, TooManyTokens
from arena.db.schema import AccountRow, ApiTokenRow, SessionRow
from arena.protocol.accounts import Token
from arena.protocol.states import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAccount:
    """An account."""

    id: int
    name: str  # the display name; a pseudonym once the account is deleted
    role: Role
    created: datetime  # UTC
    deleted: datetime | None  # UTC; None if it still exists


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSession:
    """A session to create."""

    account: int  # id of the owner
    hash: str  # of the session's secret
    browser: str  # the User-Agent
    created: datetime  # UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSession:
    """A logged-in browser session."""

    id: int
    account: KnownAccount  # the owner
    browser: str  # the User-Agent
    created: datetime  # UTC
    seen: datetime  # last use, UTC, approximate


@dataclass(frozen=True, slots=True, kw_only=True)
class NewApiToken:
    """A token to create."""

    account: int  # id of the owner
    name: str  # the owner's label for it
    prefix: str  # the part of the secret that may be displayed again
    hash: str  # of the secret
    scopes: tuple[str, ...]
    created: datetime  # UTC
    expires: datetime  # UTC


MAX_INVALID: Final = 20
"""Maximum number of invalid tokens to keep per account. Older ones are deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownToken(Token):
    """A token, valid or not."""

    revoked: datetime | None  # UTC; None if not revoked

    def works(self, at: datetime) -> bool:
        """Return True if the token is valid at this time."""
        return self.revoked is None and at < self.expires


class Credentials(Repository):
    """Accounts' sessions and tokens."""

    def open_session(
        self,
        new: NewSession,
        *,
        password: str | None = None,
        instead_of: str | None = None,
        entry: NewAuditEntry | None = None,
    ) -> int:
        """Add a session and return its id. End the session with the hash ``instead_of``.

        Raises CredentialsChanged if ``password`` is not the account's password hash, or if the account was
        deleted.
        """
        values = asdict(new) | {"seen": new.created}
        values["account_id"] = values.pop("account")
        with self._transactions.write() as connection:
            lock_account(connection, new.account, password)
            session = connection.execute(
                insert(SessionRow).values(values).returning(SessionRow.id)
            ).scalar_one()
            if instead_of is not None:
                connection.execute(delete(SessionRow).where(SessionRow.hash == instead_of))
            audit.record(connection, entry)
            return int(session)

    def session(self, hash_: str) -> OpenSession | None:
        """Return the session with this hash; None if it is unknown or its account is deleted.

        The caller checks the session's age.
        """
        with self._transactions.read() as connection:
            row = connection.execute(
                select(SessionRow.__table__).where(SessionRow.hash == hash_)
            ).one_or_none()
            if row is None or (account := _owner(connection, row.account_id)) is None:
                return None
            return from_row(OpenSession, row, account=account)

    def sessions(self, account: int) -> tuple[OpenSession, ...]:
        """Return an account's sessions, most recently used first."""
        query = select(SessionRow.__table__).where(SessionRow.account_id == account)
        with self._transactions.read() as connection:
            owner = _owner(connection, account)
            rows = connection.execute(query.order_by(SessionRow.seen.desc(), SessionRow.id))
            return tuple(from_row(OpenSession, row, account=owner) for row in rows)

    def session_seen(self, session: int, at: datetime) -> None:
        """Record that a session was used at this time."""
        with self._transactions.write() as connection:
            connection.execute(update(SessionRow).where(SessionRow.id == session).values(seen=at))

    def end_session(self, hash_: str) -> None:
        """End the session with this hash, if any."""
        with self._transactions.write() as connection:
            connection.execute(delete(SessionRow).where(SessionRow.hash == hash_))

    def end_session_of(self, account: int, session: int) -> bool:
        """End a session by id; return False if the account has no such session."""
        with self._transactions.write() as connection:
            ended = connection.execute(
                delete(SessionRow).where(SessionRow.id == session, SessionRow.account_id == account)
            )
            return ended.rowcount > 0

    def end_old_sessions(self, *, created_before: datetime, seen_before: datetime) -> int:
        """End sessions that are too old or have been unused for too long. Return their number."""
        with self._transactions.write() as connection:
            old = or_(SessionRow.created <= created_before, SessionRow.seen <= seen_before)
            return connection.execute(delete(SessionRow).where(old)).rowcount

    def add_token(
        self,
        new: NewApiToken,
        *,
        max_tokens: int,
        password: str | None = None,
        by: int | None = None,
        entry: NewAuditEntry | None = None,
    ) -> KnownToken:
        """Add a token.

        Raises TooManyTokens. Raises CredentialsChanged if ``password`` is not the account's password hash,
        the account was deleted, or the token ``by`` has been revoked.
        """
        with self._transactions.write() as connection:
            lock_account(connection, new.account, password)
            if by is not None:
                query = select(ApiTokenRow.id).where(ApiTokenRow.id == by, ApiTokenRow.revoked.is_(None))
                if connection.execute(query.with_for_update()).one_or_none() is None:
                    raise CredentialsChanged("the token has just been revoked: use another one")
            working = count(
                connection,
                ApiTokenRow,
                ApiTokenRow.account_id == new.account,
                ApiTokenRow.revoked.is_(None),
                ApiTokenRow.expires > new.created,
            )
            if working >= max_tokens:
                raise TooManyTokens(
                    f"the account has {working} valid tokens, and the limit is {max_tokens}: revoke one first"
                )
            values = asdict(new)
            values["account_id"] = values.pop("account")
            added = insert(ApiTokenRow).values(values).returning(*ApiTokenRow.__table__.columns)
            row = connection.execute(added).one()
            _delete_invalid(connection, new)
            audit.record(connection, entry)
            return from_row(KnownToken, row)

    def token(self, hash_: str) -> tuple[KnownToken, KnownAccount] | None:
        """Return the token with this hash, and its account; None if it is unknown or the account is deleted.

        The token may have expired or been revoked.
        """
        with self._transactions.read() as connection:
            row = connection.execute(
                select(ApiTokenRow.__table__).where(ApiTokenRow.hash == hash_)
            ).one_or_none()
            if row is None or (account := _owner(connection, row.account_id)) is None:
                return None
            return from_row(KnownToken, row), account

    def tokens(self, account: int) -> tuple[KnownToken, ...]:
        """Return an account's tokens, newest first, including the newest invalid ones."""
        with self._transactions.read() as connection:
            query = select(ApiTokenRow.__table__).where(ApiTokenRow.account_id == account)
            rows = connection.execute(query.order_by(ApiTokenRow.id.desc()))
            return tuple(from_row(KnownToken, row) for row in rows)

    def token_used(self, token: int, at: datetime) -> None:
        """Record that a token was used at this time."""
        with self._transactions.write() as connection:
            connection.execute(update(ApiTokenRow).where(ApiTokenRow.id == token).values(last_used=at))

    def revoke_token(
        self, account: int, token: int, at: datetime, *, entry: NewAuditEntry | None = None
    ) -> bool:
        """Revoke a token; return False if the account has no unrevoked token with that id."""
        with self._transactions.write() as connection:
            revoked = connection.execute(
                update(ApiTokenRow)
                .where(
                    ApiTokenRow.id == token, ApiTokenRow.account_id == account, ApiTokenRow.revoked.is_(None)
                )
                .values(revoked=at)
            )
            if revoked.rowcount == 0:
                return False
            audit.record(connection, entry)
            return True


def lock_account(connection: Connection, account: int, password: str | None) -> None:
    """Lock an account until the transaction ends, so that its password stays the same.

    Raises CredentialsChanged if ``password`` is not its password hash, or if the account has been deleted.
    """
    query = select(AccountRow.password).where(AccountRow.id == account).with_for_update()
    stored = connection.execute(query).scalar_one()
    if stored is None:
        raise CredentialsChanged("the account has just been deleted")
    if password is not None and stored != password:
        raise CredentialsChanged("the password has just been changed: use the new one")


def _delete_invalid(connection: Connection, new: NewApiToken) -> None:
    """Delete the account's invalid tokens except the newest ones."""
    invalid = (
        select(ApiTokenRow.id)
        .where(
            ApiTokenRow.account_id == new.account,
            or_(ApiTokenRow.revoked.is_not(None), ApiTokenRow.expires <= new.created),
        )
        .order_by(ApiTokenRow.id.desc())
        .offset(MAX_INVALID)
    )
    connection.execute(delete(ApiTokenRow).where(ApiTokenRow.id.in_(invalid)))


def end_all(
    connection: Connection,
    account: int,
    at: datetime,
    *,
    keep_session: int | None,
    keep_tokens: Collection[int],
) -> None:
    """End an account's sessions and revoke its tokens, except those to keep."""
    others = delete(SessionRow).where(SessionRow.account_id == account)
    connection.execute(others if keep_session is None else others.where(SessionRow.id != keep_session))
    connection.execute(
        update(ApiTokenRow)
        .where(ApiTokenRow.account_id == account, ApiTokenRow.revoked.is_(None))
        .where(ApiTokenRow.id.not_in(keep_tokens))
        .values(revoked=at)
    )


def remove_all(connection: Connection, account: int) -> None:
    """Delete an account's sessions and tokens."""
    connection.execute(delete(SessionRow).where(SessionRow.account_id == account))
    connection.execute(delete(ApiTokenRow).where(ApiTokenRow.account_id == account))


def _owner(connection: Connection, account: int) -> KnownAccount | None:
    """Return an account, or None if it is deleted."""
    row = connection.execute(
        select(AccountRow.__table__).where(AccountRow.id == account, AccountRow.deleted.is_(None))
    ).one_or_none()
    return None if row is None else from_row(KnownAccount, row)
