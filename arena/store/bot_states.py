"""Whether a bot plays, and which of its versions: changes, each under the lock on the ladder."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, select, true, update

from arena.benching import LAST, keeps_failing, reason
from arena.store import ladder, rebuild, submissions, versions
from arena.store.bot_models import Bot, BotState, BotVersion
from arena.store.errors import BotDisqualified, NoSuchBot, NoSuchVersion, VersionGone
from arena.store.models import Game, GameSeat, Match, MatchSeat, MatchState
from arena.submitting.hints import HINTS
from arena.submitting.stages import Cause, CauseKind, Stage


def play_version(connection: Connection, name: str, number: int, at: datetime) -> None:
    """Let a version of a bot play from now on, which brings the bot back if it was off the ladder.

    Matches that wait or run are played with the versions that they were drawn with.

    Raises:
        BotDisqualified: The bot may play no more.
        NoSuchBot: There is none of that name.
        NoSuchVersion: It has none of that number.
        VersionGone: Its image was removed.
    """
    bot = _lock(connection, name)
    _check_allowed(bot)
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
    if (bot.playing, bot.state) != (number, BotState.ACTIVE):
        versions.set_playing(connection, bot.id, number, at)


def come_back(connection: Connection, name: str, at: datetime) -> None:
    """Let a bot that was benched or retired play again, with the version that it played with.

    Raises:
        BotDisqualified: It may play no more.
        NoSuchBot: There is none of that name.
        VersionGone: Its image was removed.
    """
    play_version(connection, name, _lock(connection, name).playing, at)


def retire(connection: Connection, name: str, at: datetime) -> None:
    """Take a bot off the ladder. Matches that wait or run are played.

    Raises:
        BotDisqualified: An operator has done that already.
        NoSuchBot: There is none of that name.
    """
    bot = _lock(connection, name)
    _check_allowed(bot)
    if bot.state != BotState.RETIRED:
        _set(connection, bot, BotState.RETIRED, None, at)


def bench(connection: Connection, name: str, why: str, at: datetime) -> None:
    """Let a bot sit out, for a reason that everybody may read.

    Raises:
        BotDisqualified: It plays no more at all.
        NoSuchBot: There is none of that name.
    """
    bot = _lock(connection, name)
    _check_allowed(bot)
    _set(connection, bot, BotState.BENCHED, why, at)


def bench_failing(connection: Connection, played: Collection[tuple[int, str]], at: datetime) -> list[str]:
    """Bench those whose last games keep failing. The house's own stay.

    Args:
        connection: To the store, for writing; the caller holds the lock on the ladder.
        played: Versions that were taken over just now, each with what happened, in words.
        at: UTC.

    Returns:
        The names of bots that were benched.
    """
    benched = []
    for version, trouble in played:
        bot = connection.execute(
            select(Bot.__table__)
            .join(BotVersion, (BotVersion.bot_id == Bot.id) & (BotVersion.number == Bot.playing))
            .where(BotVersion.id == version, Bot.state == BotState.ACTIVE, ~Bot.house)
        ).one_or_none()
        if bot is None:
            continue
        last = _last_taken_over(connection, version, bot.since)
        if keeps_failing(last):
            _set(connection, bot, BotState.BENCHED, reason(last, trouble), at)
            benched.append(str(bot.name))
    return benched


def disqualify(connection: Connection, name: str, why: str, at: datetime) -> rebuild.Rebuilt:
    """Take a bot off the ladder for good, and rate everybody anew as if it had never played.

    Its matches that wait are struck, its submissions on their way rejected. What runs doesn't count.

    Raises:
        NoSuchBot: There is none of that name.
        ValueError: It is the house's, which qualifications need.
    """
    bot = _lock(connection, name)
    if bot.house:
        raise ValueError(f"{name} is a bot of the house, and qualifications are played against these")
    _set(connection, bot, BotState.DISQUALIFIED, why, at)
    its = (
        select(MatchSeat.match_id)
        .join(BotVersion, BotVersion.id == MatchSeat.version_id)
        .join(Match, Match.id == MatchSeat.match_id)
        .where(BotVersion.bot_id == bot.id, Match.state == MatchState.WAITING)
    )
    struck = list(connection.execute(its).scalars())
    connection.execute(delete(MatchSeat).where(MatchSeat.match_id.in_(struck)))
    connection.execute(delete(Match).where(Match.id.in_(struck)))
    cause = Cause(
        stage=Stage.RECEIVED,
        kind=CauseKind.BARRED,
        text=versions.disqualified(name, why),
        hint=HINTS[CauseKind.BARRED],
    )
    submissions.reject_all_of(connection, name, cause, at)
    return rebuild.rebuild(connection)


def reinstate(connection: Connection, name: str, at: datetime) -> rebuild.Rebuilt:
    """Take a disqualification back, and rate everybody anew with its games.

    Raises:
        NoSuchBot: There is none of that name.
        ValueError: It was not disqualified.
    """
    bot = _lock(connection, name)
    if bot.state != BotState.DISQUALIFIED:
        raise ValueError(f"{name} was not disqualified")
    _set(connection, bot, BotState.ACTIVE, None, at)
    return rebuild.rebuild(connection)


def note_gone(connection: Connection, kept: Collection[str], at: datetime) -> int:
    """Note of strangers' versions which of their images were removed, and return how many that were.

    Args:
        connection: To the store, for writing.
        kept: The sources that are there.
        at: UTC.
    """
    rows = connection.execute(
        select(BotVersion.id, BotVersion.source)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(~Bot.house, BotVersion.gone.is_(None))
    )
    gone = [row.id for row in rows if row.source not in kept]
    connection.execute(update(BotVersion).where(BotVersion.id.in_(gone)).values(gone=at))
    return len(gone)


def _lock(connection: Connection, name: str) -> Row[Any]:
    ladder.lock(connection)
    bot = connection.execute(select(Bot.__table__).where(Bot.name == name)).one_or_none()
    if bot is None:
        raise NoSuchBot(f"there is no bot called {name}")
    return bot


def _check_allowed(bot: Row[Any]) -> None:
    if bot.state == BotState.DISQUALIFIED:
        raise BotDisqualified(versions.disqualified(bot.name, bot.reason))


def _set(connection: Connection, bot: Row[Any], state: BotState, why: str | None, at: datetime) -> None:
    connection.execute(update(Bot).where(Bot.id == bot.id).values(state=state, reason=why, since=at))


def _last_taken_over(connection: Connection, version: int, since: datetime | None) -> list[bool]:
    """Return whether the last games since then were played to the end by the stand-in, oldest first."""
    wanted = (
        select(GameSeat.taken_over)
        .join(Game, Game.number == GameSeat.game_number)
        .where(GameSeat.version_id == version, true() if since is None else Game.ended > since)
        .order_by(GameSeat.game_number.desc())
        .limit(LAST)
    )
    return list(connection.execute(wanted).scalars())[::-1]
