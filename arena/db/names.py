"""Name checks: no two bots or accounts may have names that look alike.

Older names that break this rule stay valid, and bots with such names can get new versions.
"""

from typing import Any

from sqlalchemy import ColumnElement, Connection, func, literal, select, union_all

from arena.db.errors import BotTaken, NameTaken
from arena.db.schema import AccountRow, BotRow
from arena.platform.names import LOOKALIKES, is_reserved, skeleton


def check_bot(connection: Connection, name: str, account: int | None) -> None:
    """Check the name of a new bot. The name may look like that of its owner's account.

    Raises BotTaken if the name is reserved, or looks like the name of a bot or of another account.
    """
    if is_reserved(name):
        raise BotTaken(f"the name {name} is reserved for the arena: choose another")
    taken = union_all(
        select(literal("the bot").label("what"), BotRow.name).where(_skeleton(BotRow.name) == skeleton(name)),
        select(literal("the account"), AccountRow.name).where(
            _skeleton(AccountRow.key) == skeleton(name), AccountRow.id.is_distinct_from(account)
        ),
    )
    other = connection.execute(taken.limit(1)).one_or_none()
    if other is not None:
        raise BotTaken(f"the name {name} is too similar to that of {other.what} {other.name}: choose another")


def check_house_bot(connection: Connection, name: str) -> None:
    """Check the name of a new house bot. Raises BotTaken if another bot's name differs only in case."""
    other = connection.execute(
        select(BotRow.name).where(func.lower(BotRow.name) == name.lower(), BotRow.name != name).limit(1)
    ).scalar_one_or_none()
    if other is not None:
        raise BotTaken(f"the name {name} differs from that of the bot {other} only in case: choose another")


def check_account(connection: Connection, name: str) -> None:
    """Check that the name of a new account is free. Raises NameTaken."""
    taken = union_all(
        select(AccountRow.id).where(_skeleton(AccountRow.key) == skeleton(name)),
        select(BotRow.id).where(
            (_skeleton(BotRow.name) == skeleton(name)) | (_skeleton(BotRow.author) == skeleton(name))
        ),
    )
    if connection.execute(taken.limit(1)).first() is not None:
        raise taken_by_another(name)


def taken_by_another(name: str) -> NameTaken:
    """Return the error for a name that is taken or looks like another."""
    return NameTaken(f"the name {name} is taken, or too similar to a taken name: choose another")


def _skeleton(column: Any) -> ColumnElement[str]:  # noqa: ANN401 - an SQLAlchemy column
    """Return :func:`arena.platform.names.skeleton` of a column as SQL."""
    result: ColumnElement[str] = func.lower(column)
    for letter, same in LOOKALIKES.items():
        result = func.replace(result, letter, same)
    return result
