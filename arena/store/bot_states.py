"""Whether a bot plays, and which of its versions: changes, each under the lock on the ladder."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select, update

from arena.benching import LAST, keeps_failing, reason
from arena.store import ladder, revisions, versions
from arena.store.bot_models import Bot, BotState, BotVersion
from arena.store.errors import BotDisqualified, NoSuchBot, NoSuchVersion, VersionGone, WrongState
from arena.store.models import Game, GameSeat


def play_version(connection: Connection, name: str, number: int, at: datetime) -> bool:
    """Let a version of a bot play from now on, which brings the bot back if it was off the ladder.

    Matches that wait or run are played with the versions that they were drawn with.

    Returns:
        False where it plays already: nothing changed.

    Raises:
        BotDisqualified: The bot may play no more.
        NoSuchBot: There is none of that name.
        NoSuchVersion: It has none of that number.
        VersionGone: Its image was removed.
        WrongState: It is a bot of the house.
    """
    bot = _lock(connection, name)
    version = connection.execute(
        select(BotVersion.gone).where(BotVersion.bot_id == bot.id, BotVersion.number == number)
    ).one_or_none()
    if version is None:
        raise NoSuchVersion(f"{name} has no version {number}: it has 1 to {bot.newest}")
    if version.gone is not None:
        raise VersionGone(
            f"the image of {name}@{number} was removed on {version.gone:%Y-%m-%d} to make room: "
            "submit it again"
        )
    if (bot.playing, bot.state) == (number, BotState.ACTIVE):
        return False
    versions.set_playing(connection, bot.id, number, at)
    return True


def come_back(connection: Connection, name: str, at: datetime) -> bool:
    """Let a bot that was benched or retired play again, with the version that it played with.

    Returns:
        False where it plays already: nothing changed.

    Raises:
        BotDisqualified: It may play no more.
        NoSuchBot: There is none of that name.
        VersionGone: Its image was removed.
        WrongState: It is a bot of the house.
    """
    return play_version(connection, name, _lock(connection, name).playing, at)


def retire(connection: Connection, name: str, at: datetime) -> bool:
    """Take a bot off the ladder. Matches that wait or run are played.

    Returns:
        False where it is retired already: nothing changed.

    Raises:
        BotDisqualified: An operator has done that already.
        NoSuchBot: There is none of that name.
        WrongState: It is a bot of the house.
    """
    bot = _lock(connection, name)
    if bot.state == BotState.RETIRED:
        return False
    set_state(connection, bot.id, BotState.RETIRED, None, at)
    return True


def bench(connection: Connection, name: str, why: str, at: datetime) -> None:
    """Let a bot sit out, for a reason that everybody may read; it takes the place of an earlier one.

    Raises:
        BotDisqualified: It plays no more at all.
        NoSuchBot: There is none of that name.
        WrongState: It is retired, or a bot of the house.
    """
    bot = _lock(connection, name)
    if bot.state == BotState.RETIRED:
        raise WrongState(f"{name} is retired: it is drawn for no game anyway")
    set_state(connection, bot.id, BotState.BENCHED, why, at)


def unbench(connection: Connection, name: str, at: datetime) -> None:
    """Let a bot that was benched play again.

    Raises:
        BotDisqualified: It plays no more at all.
        NoSuchBot: There is none of that name.
        VersionGone: Its image was removed.
        WrongState: It is not benched, or a bot of the house.
    """
    bot = _lock(connection, name)
    if bot.state != BotState.BENCHED:
        raise WrongState(f"{name} is {bot.state} and not benched")
    play_version(connection, name, bot.playing, at)


def bench_failing(connection: Connection, played: Collection[tuple[int, str]], at: datetime) -> list[str]:
    """Bench those whose last games keep failing. The house's own stay.

    Args:
        connection: To the store, for writing; the caller holds the lock on the ladder.
        played: Versions that were taken over just now, each with what happened, in words.
        at: UTC.

    Returns:
        The names of bots that were benched.
    """
    benched: dict[int, str] = {}
    for version, trouble in played:
        bot = connection.execute(
            select(Bot.__table__)
            .join(BotVersion, (BotVersion.bot_id == Bot.id) & (BotVersion.number == Bot.playing))
            .where(BotVersion.id == version, Bot.state == BotState.ACTIVE, ~Bot.house)
        ).one_or_none()
        if bot is None:
            continue
        last = _last_taken_over(connection, version, bot.forgiven)
        if keeps_failing(last):
            _write(connection, bot.id, BotState.BENCHED, reason(last, trouble), at)
            benched[bot.id] = bot.name
    if benched:
        revisions.changed(connection, Bot.id.in_(benched))
    return list(benched.values())


def note_gone(connection: Connection, kept: Collection[str], at: datetime) -> int:
    """Note of strangers' versions which of their images were removed, and which are there again.

    Args:
        connection: To the store, for writing.
        kept: The sources that are there.
        at: UTC.

    Returns:
        How many were removed.
    """
    rows = connection.execute(
        select(BotVersion.id, BotVersion.source, BotVersion.gone)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(~Bot.house)
    ).all()
    gone = [row.id for row in rows if row.gone is None and row.source not in kept]
    back = [row.id for row in rows if row.gone is not None and row.source in kept]
    connection.execute(update(BotVersion).where(BotVersion.id.in_(gone)).values(gone=at))
    connection.execute(update(BotVersion).where(BotVersion.id.in_(back)).values(gone=None))
    return len(gone)


def lock(connection: Connection, name: str) -> Row[Any]:
    """Return the row of a bot, and keep everybody else from changing any bot's state until the end.

    Raises:
        NoSuchBot: There is none of that name.
        WrongState: It is a bot of the house. These fill the tables and qualify submissions, and every start
            of the arena enters them anew.
    """
    ladder.lock(connection)
    return find(connection, name)


def find(connection: Connection, name: str) -> Row[Any]:
    """Return the row of a bot as :func:`lock` does, without the lock."""
    bot = connection.execute(select(Bot.__table__).where(Bot.name == name)).one_or_none()
    if bot is None:
        raise NoSuchBot(f"there is no bot called {name}")
    if bot.house:
        raise WrongState(f"{name} is a bot of the house: it plays as long as the arena does")
    return bot


def set_state(connection: Connection, bot: int, state: BotState, why: str | None, at: datetime) -> None:
    """Write down whether a bot plays, and why not."""
    _write(connection, bot, state, why, at)
    revisions.changed(connection, Bot.id == bot)


def _write(connection: Connection, bot: int, state: BotState, why: str | None, at: datetime) -> None:
    connection.execute(update(Bot).where(Bot.id == bot).values(state=state, reason=why, since=at))


def _lock(connection: Connection, name: str) -> Row[Any]:
    """Return the row of a bot that was not disqualified."""
    bot = lock(connection, name)
    if bot.state == BotState.DISQUALIFIED:
        raise BotDisqualified(versions.disqualified(bot.name, bot.reason))
    return bot


def _last_taken_over(connection: Connection, version: int, since: datetime | None) -> list[bool]:
    """Return whether the last games since then were played to the end by the stand-in, oldest first."""
    # The index ends the search after so many games; older ones are left out here, and not by the database,
    # which would look for others in all that the version has played.
    rows = connection.execute(
        select(GameSeat.taken_over, Game.ended)
        .join(Game, Game.number == GameSeat.game_number)
        .where(GameSeat.version_id == version)
        .order_by(GameSeat.game_number.desc())
        .limit(LAST)
    ).all()
    return [row.taken_over for row in reversed(rows) if since is None or row.ended > since]
