"""Tokens, by which programs act for an account."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, func, insert, select, update

from arena.store.accounts import COLUMNS, known
from arena.store.errors import TooManyTokens
from arena.store.people_models import Account
from arena.store.people_models import ApiToken as TokenRow
from arena.store.persons import ApiToken, KnownAccount, NewToken


def add(connection: Connection, new: NewToken, most: int) -> ApiToken:
    """Add a token.

    Raises:
        TooManyTokens: The account has ``most`` that work.
    """
    working = connection.execute(
        select(func.count())
        .select_from(TokenRow)
        .where(TokenRow.account_id == new.account, TokenRow.revoked.is_(None), TokenRow.expires > new.created)
    ).scalar_one()
    if working >= most:
        raise TooManyTokens(f"there are {working} tokens that work, and {most} is the most: revoke one first")
    values = {
        "account_id": new.account,
        "name": new.name,
        "prefix": new.prefix,
        "hash": new.hash,
        "scopes": list(new.scopes),
        "created": new.created,
        "expires": new.expires,
    }
    number = connection.execute(insert(TokenRow).values(values).returning(TokenRow.id)).scalar_one()
    return _token(connection.execute(_tokens().where(TokenRow.id == number)).one())


def find(connection: Connection, hash_: str) -> tuple[ApiToken, KnownAccount] | None:
    """Return the token with this hash and whose it is, or None; of an account that was deleted none."""
    wanted = _tokens().where(TokenRow.hash == hash_, Account.deleted.is_(None))
    row = connection.execute(wanted).one_or_none()
    return None if row is None else (_token(row), known(row))


def of_account(connection: Connection, account: int) -> tuple[ApiToken, ...]:
    """Return the tokens of an account, newest first."""
    wanted = _tokens().where(TokenRow.account_id == account).order_by(TokenRow.id.desc())
    return tuple(_token(row) for row in connection.execute(wanted))


def used(connection: Connection, token: int, at: datetime) -> None:
    """Note when a token was last used."""
    connection.execute(update(TokenRow).where(TokenRow.id == token).values(last_used=at))


def revoke(connection: Connection, account: int, token: int, at: datetime) -> bool:
    """Revoke a token; False where this account has none of that id that is not revoked."""
    revoked = connection.execute(
        update(TokenRow)
        .where(TokenRow.id == token, TokenRow.account_id == account, TokenRow.revoked.is_(None))
        .values(revoked=at)
    )
    return revoked.rowcount > 0


def remove_all(connection: Connection, account: int) -> None:
    """Remove all tokens of an account."""
    connection.execute(delete(TokenRow).where(TokenRow.account_id == account))


def _tokens() -> Select[*tuple[Any, ...]]:
    return select(
        *COLUMNS,
        TokenRow.id.label("token"),
        TokenRow.name.label("called"),
        TokenRow.prefix,
        TokenRow.scopes,
        TokenRow.created.label("made"),
        TokenRow.expires,
        TokenRow.last_used,
        TokenRow.revoked,
    ).join(Account, Account.id == TokenRow.account_id)


def _token(row: Row[*tuple[Any, ...]]) -> ApiToken:
    return ApiToken(
        id=row.token,
        name=row.called,
        prefix=row.prefix,
        scopes=tuple(row.scopes),
        created=row.made,
        expires=row.expires,
        last_used=row.last_used,
        revoked=row.revoked,
    )
