"""Accounts: made, found, and turned into pseudonyms."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, exists, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from arena.store import audit, ladder, revisions, submissions
from arena.store.bot_models import Bot, BotState, BotVersion
from arena.store.errors import LastOperator, NameTaken
from arena.store.models import Challenge, Game, GameSeat, Match, MatchSeat
from arena.store.people_models import Account
from arena.store.persons import KnownAccount, NewAccount, Role, StoredPassword
from arena.store.submission_models import UnratedGame

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


def set_role(connection: Connection, account: int, role: Role) -> bool:
    """Change what an account may do, unless it was deleted; False where it may do that already.

    Raises:
        LastOperator: There would be no operator any more.
    """
    # Locked, so that of two operators who demote each other one stays.
    operators = connection.execute(
        select(Account.id).where(Account.role == Role.OPERATOR).order_by(Account.id).with_for_update()
    ).scalars()
    if role is not Role.OPERATOR and list(operators) == [account]:
        raise LastOperator(
            "this is the last operator: without one nobody could operate the arena. Make another one first"
        )
    changed = connection.execute(
        update(Account)
        .where(Account.id == account, Account.deleted.is_(None), Account.role != role)
        .values(role=role)
    )
    return changed.rowcount > 0


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
    ladder.lock(connection)  # first, as whoever plays or submits: the other way round two could wait for ever
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
    revisions.changed(connection, its)
    connection.execute(update(Bot).where(its).values(author=pseudonym))
    connection.execute(
        update(Bot)
        .where(Bot.account_id == account, Bot.state != BotState.DISQUALIFIED)
        .values(state=BotState.RETIRED, reason="its author's account was deleted", since=at)
    )
    for author in {bot.author for bot in bots}:
        _rename_in_replays(connection, [bot.id for bot in bots if bot.author == author], author, pseudonym)
    submissions.rename(connection, account, name, pseudonym, at)
    audit.rename(connection, name, pseudonym)


def _rename_in_replays(connection: Connection, bots: list[int], author: str, pseudonym: str) -> None:
    # In the database, not document by document: there may be thousands. Names are of letters, digits,
    # - and _ alone, so the text is the field and nothing else.
    its = select(BotVersion.id).where(BotVersion.bot_id.in_(bots))
    games = select(GameSeat.game_number).where(GameSeat.version_id.in_(its))
    connection.execute(
        update(Game).where(Game.number.in_(games)).values(replay=_renamed(Game.replay, author, pseudonym))
    )
    challenges = (
        select(MatchSeat.match_id)
        .join(Match, Match.id == MatchSeat.match_id)
        .join(Challenge, Challenge.set_number == Match.set_number)
        .where(MatchSeat.version_id.in_(its))
    )
    connection.execute(
        update(UnratedGame)
        .where(UnratedGame.match_id.in_(challenges))
        .values(replay=_renamed(UnratedGame.replay, author, pseudonym))
    )


def _renamed(replay: Any, author: str, pseudonym: str) -> Any:  # noqa: ANN401 - expressions of SQLAlchemy's
    return func.replace(replay, f'"author":"{author}"', f'"author":"{pseudonym}"')


def _taken(name: str) -> NameTaken:
    return NameTaken(f"the name {name} is taken: choose another")
