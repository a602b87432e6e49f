"""The newest seats of a bot in rated games, through the index of each of its versions."""

from typing import Any

from sqlalchemy import Connection, Row, select, text

from arena.store.bot_models import Bot, BotVersion
from arena.store.models import FAULTY, GameSeat


def newest(  # noqa: PLR0913 - what is looked for
    connection: Connection,
    bot: str,
    limit: int,
    *,
    version: int | None = None,
    before: int | None = None,
    faulty: bool = False,
) -> list[Row[Any]]:
    """Return what a bot made of its last games, newest first: rows of ``game_seat``.

    Args:
        connection: To the store.
        bot: Its name.
        limit: How many at most.
        version: Only games of this version; None for all.
        before: Only games with a smaller number; None starts with the newest.
        faulty: Only games in which it had a fault.
    """
    versions = (
        select(BotVersion.id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(Bot.name == bot)
        .order_by(BotVersion.number.desc())
    )
    if version is not None:
        versions = versions.where(BotVersion.number == version)
    wanted = select(GameSeat.__table__).order_by(GameSeat.game_number.desc()).limit(limit)
    if before is not None:
        wanted = wanted.where(GameSeat.game_number < before)
    if faulty:
        wanted = wanted.where(text(f"({FAULTY})"))
    found: list[Row[Any]] = []
    for id_ in connection.execute(versions).scalars().all():
        its = wanted.where(GameSeat.version_id == id_)
        if len(found) == limit:  # what is older than all of these is not among the newest
            its = its.where(GameSeat.game_number > found[-1].game_number)
        found = sorted([*found, *connection.execute(its)], key=lambda row: row.game_number, reverse=True)[
            :limit
        ]
    return found
