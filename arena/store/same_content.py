"""What a bot has been sent already: the same file or the same image makes no new version."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, select, text

from arena.store.bot_models import Bot, BotState, BotVersion
from arena.store.errors import SameContent
from arena.store.submission_models import ON_ITS_WAY, Submission


def check_file(connection: Connection, bot: str, sha256: str) -> None:
    """Make sure that a file is another one than those of a bot's versions, and of what is on its way.

    One that was rejected may come again, and so may that of a version whose image was removed.

    Raises:
        SameContent: It is one of those; the text names the version or the submission.
    """
    if (known := _version(connection, bot, BotVersion.sha256 == sha256)) is not None:
        raise SameContent(f"this is the same file as {known}")
    other = connection.execute(
        select(Submission.id)
        .where(Submission.bot == bot, Submission.sha256 == sha256, text(ON_ITS_WAY))
        .limit(1)
    ).scalar_one_or_none()
    if other is not None:
        raise SameContent(f"this very file is on its way already, as submission {other} of {bot}")


def same_image(connection: Connection, bot: str, source: str) -> str | None:
    """Return in words which version of a bot has this very image, or None where none has."""
    return _version(connection, bot, BotVersion.source == source)


def _version(connection: Connection, bot: str, same: ColumnElement[bool]) -> str | None:
    """Return the one of these versions that plays or else the newest, and what became of it."""
    rows: Any = connection.execute(
        select(BotVersion.number, Bot.playing, Bot.state)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(Bot.name == bot, BotVersion.gone.is_(None), same)
        .order_by(BotVersion.number)
    ).all()
    if not rows:
        return None
    found = next((row for row in rows if row.number == row.playing), rows[-1])
    name = f"{bot}@{found.number}"
    if found.number != found.playing:
        return f"{name}, and {bot}@{found.playing} plays in its place"
    return (
        f"{name}, which plays already"
        if found.state == BotState.ACTIVE
        else f"{name}, which is {found.state}"
    )
