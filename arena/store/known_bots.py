"""What is read about bots and their versions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select

from arena.rating import Entry
from arena.store import ladder
from arena.store.bot_models import Bot, BotState, BotVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBot:
    """A bot.

    Attributes:
        name: Its own.
        author: Its author's name.
        house: Whether it is one of the arena's own.
        account: Of its owner; None where it is nobody's.
        playing: The number of the version that plays, or would.
        newest: The highest number of a version.
        state: Whether it plays.
        reason: Why it doesn't, for everybody; None where there is no more to say.
        since: UTC, of the last change of state or version; None where there was none.
    """

    name: str
    author: str
    house: bool
    account: int | None
    playing: int
    newest: int
    state: BotState
    reason: str | None
    since: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownVersion:
    """A version of a bot.

    Attributes:
        number: From 1.
        playing: Whether it is the one that plays, or would.
        created: UTC.
        note: Its author's own words; for its owner and operators alone.
        source: Id of its image, or its folder.
        size: Bytes of the file that it came of; None where it came of none.
        sha256: Of that file, hexadecimal; None as above.
        available: Whether its image is still kept.
        results: By list, as in :data:`arena.rating.LISTS`: rating and sums.
    """

    number: int
    playing: bool
    created: datetime
    note: str
    source: str
    size: int | None
    sha256: str | None
    available: bool
    results: dict[int, Entry]


def find(connection: Connection, name: str) -> KnownBot | None:
    """Return the bot of this name, or None where there is none."""
    row = connection.execute(_bots().where(Bot.name == name)).one_or_none()
    return None if row is None else _known(row)


def of_account(connection: Connection, account: int) -> tuple[KnownBot, ...]:
    """Return the bots of an account, by name."""
    rows = connection.execute(_bots().where(Bot.account_id == account).order_by(Bot.name))
    return tuple(map(_known, rows))


def listed(
    connection: Connection, after: str | None, limit: int, *, state: BotState | None, author: str | None
) -> tuple[KnownBot, ...]:
    """Return bots by name, those that come after ``after``, at most so many.

    Args:
        connection: To the store.
        after: A name; None starts with the first.
        limit: How many at most.
        state: Only those in it; None for all.
        author: Only those of this author, in any case; None for all.
    """
    wanted = _bots().order_by(Bot.name).limit(limit)
    if after is not None:
        wanted = wanted.where(Bot.name > after)
    if state is not None:
        wanted = wanted.where(Bot.state == state)
    if author is not None:
        wanted = wanted.where(func.lower(Bot.author) == author.lower())
    return tuple(map(_known, connection.execute(wanted)))


def versions(connection: Connection, name: str, before: int | None, limit: int) -> tuple[KnownVersion, ...]:
    """Return versions of a bot, newest first, with a number smaller than ``before``, at most so many."""
    wanted = (
        select(BotVersion.__table__, Bot.playing, Bot.house)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(Bot.name == name)
        .order_by(BotVersion.number.desc())
        .limit(limit)
    )
    if before is not None:
        wanted = wanted.where(BotVersion.number < before)
    rows = connection.execute(wanted).all()
    entries = ladder.load(connection, [row.id for row in rows])
    return tuple(_version(row, entries) for row in rows)


def _version(row: Row[Any], entries: dict[tuple[int, int], Entry]) -> KnownVersion:
    return KnownVersion(
        number=row.number,
        playing=row.number == row.playing,
        created=row.created,
        note=row.note,
        source=row.source,
        size=row.size,
        sha256=row.sha256,
        available=row.gone is None,
        results={
            players: entry for (version, players), entry in sorted(entries.items()) if version == row.id
        },
    )


def _bots() -> Select[*tuple[Any, ...]]:
    return select(
        Bot.name,
        Bot.author,
        Bot.house,
        Bot.account_id,
        Bot.playing,
        Bot.newest,
        Bot.state,
        Bot.reason,
        Bot.since,
    )


def _known(row: Row[Any]) -> KnownBot:
    return KnownBot(
        name=row.name,
        author=row.author,
        house=row.house,
        account=row.account_id,
        playing=row.playing,
        newest=row.newest,
        state=BotState(row.state),
        reason=row.reason,
        since=row.since,
    )
