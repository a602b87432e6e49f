"""Accounts: made, found, and turned into pseudonyms."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, exists, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from arena.store import audit, submissions
from arena.store.bot_models import Bot, BotVersion
from arena.store.errors import NameTaken
from arena.store.models import Game, GameSeat
from arena.store.people_models import Account
from arena.store.persons import KnownAccount, NewAccount, Role, StoredPassword

COLUMNS = (Account.id, Account.name, Account.role, Account.created, Account.deleted)
"""What a KnownAccount is made of."""


def known(row: Row[*tuple[Any, ...]]) -> KnownAccount:
    """Return an account from a row that has ``COLUMNS``, under these names."""
    return KnownAccount(
        id=row.id, name=row.name, role=Role(row.role), created=row.created, deleted=row.deleted
    )


def add(connection: Connection, new: NewAccount) -> KnownAccount:
    """Add an account.

    Raises:
        NameTaken: Somebody has that name, or it is the author of a bot that belongs to no account.
    """
    key = new.name.lower()
    taken = exists().where(Account.key == key) | exists().where(func.lower(Bot.author) == key)
    if connection.execute(select(taken)).scalar_one():
        raise _taken(new.name)
    values = {
        "name": new.name,
        "key": key,
        "password": new.password,
        "role": new.role,
        "created": new.created,
    }
    try:
        row = connection.execute(insert(Account).values(values).returning(*COLUMNS)).one()
    except IntegrityError as error:  # on PostgreSQL somebody may have been faster
        raise _taken(new.name) from error
    return known(row)


def find(connection: Connection, name: str) -> StoredPassword | None:
    """Return the account of this name, in any case, that was not deleted."""
    row = connection.execute(
        select(*COLUMNS, Account.password).where(Account.key == name.lower(), Account.deleted.is_(None))
    ).one_or_none()
    return None if row is None else StoredPassword(account=known(row), password=row.password)


def every(connection: Connection) -> tuple[KnownAccount, ...]:
    """Return all accounts, in the order of their making."""
    return tuple(known(row) for row in connection.execute(select(*COLUMNS).order_by(Account.id)))


def set_password(connection: Connection, account: int, password: str) -> None:
    """Replace the hash, unless the account was deleted."""
    connection.execute(
        update(Account).where(Account.id == account, Account.deleted.is_(None)).values(password=password)
    )


def set_role(connection: Connection, account: int, role: Role) -> None:
    """Change what an account may do, unless it was deleted."""
    connection.execute(
        update(Account).where(Account.id == account, Account.deleted.is_(None)).values(role=role)
    )


def rehash(connection: Connection, account: int, old: str, new: str) -> None:
    """Replace a hash, where it still is the one that was read."""
    connection.execute(
        update(Account).where(Account.id == account, Account.password == old).values(password=new)
    )


def delete(connection: Connection, account: int, pseudonym: str, at: datetime) -> None:
    """Put a pseudonym wherever the account's name stands: on its bots, in replays, in the audit log.

    Raises:
        NameTaken: The pseudonym has been given already.
    """
    name = connection.execute(
        select(Account.name).where(Account.id == account, Account.deleted.is_(None))
    ).scalar_one_or_none()
    if name is None:
        return
    if connection.execute(select(exists().where(Account.key == pseudonym))).scalar_one():
        raise _taken(pseudonym)
    connection.execute(
        update(Account)
        .where(Account.id == account)
        .values(name=pseudonym, key=pseudonym, password=None, role=Role.USER, deleted=at)
    )
    # Bots that an operator added for this person carry the name without belonging to the account.
    by_name = Bot.account_id.is_(None) & ~Bot.house & (func.lower(Bot.author) == name.lower())
    its = or_(Bot.account_id == account, by_name)
    bots = connection.execute(select(Bot.id, Bot.author).where(its)).all()
    connection.execute(update(Bot).where(its).values(author=pseudonym))
    for author in {bot.author for bot in bots}:
        _rename_in_replays(connection, [bot.id for bot in bots if bot.author == author], author, pseudonym)
    submissions.rename(connection, account, name, pseudonym, at)
    audit.rename(connection, name, pseudonym)


def _rename_in_replays(connection: Connection, bots: list[int], author: str, pseudonym: str) -> None:
    # In the database, not document by document: there may be thousands. Names are of letters, digits,
    # - and _ alone, so the text is the field and nothing else.
    games = (
        select(GameSeat.game_number)
        .join(BotVersion, BotVersion.id == GameSeat.version_id)
        .where(BotVersion.bot_id.in_(bots))
    )
    renamed = func.replace(Game.replay, f'"author":"{author}"', f'"author":"{pseudonym}"')
    connection.execute(update(Game).where(Game.number.in_(games)).values(replay=renamed))


def _taken(name: str) -> NameTaken:
    return NameTaken(f"the name {name} is taken: choose another")
