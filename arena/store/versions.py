"""Bots and their versions."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, case, func, insert, select, text, true, union, update

from arena.rating import VersionStarted
from arena.store import ladder, revisions
from arena.store.bot_models import ON_THE_BOARD, Bot, BotState, BotVersion
from arena.store.errors import BotDisqualified, BotTaken
from arena.store.log import Logged
from arena.store.models import OPEN, Match, MatchSeat
from arena.store.submission_models import ON_ITS_WAY, Submission


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVersion:
    """A version of a bot that wants to play.

    Attributes:
        bot: Name, at most 64 characters.
        author: Name, at most 64 characters.
        house: Whether it is one of the arena's own.
        source: Id of the image, or the bot's folder.
        created: UTC.
        account: Of whoever owns the bot; None where it is nobody's.
        note: Its author's own words.
        size: Bytes of the file that it came of, if any.
        sha256: Of that file, hexadecimal.
    """

    bot: str
    author: str
    house: bool
    source: str
    created: datetime
    account: int | None = None
    note: str = ""
    size: int | None = None
    sha256: str | None = None


def sources_in_use(connection: Connection, *, strangers_only: bool = False) -> frozenset[str]:
    """Return the sources of all that play: versions, open matches, submissions on their way."""
    strangers = BotVersion.bot_id.in_(select(Bot.id).where(~Bot.house))
    whose = strangers if strangers_only else true()
    playing = (
        select(BotVersion.source)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(BotVersion.number == Bot.playing, Bot.state.in_(ON_THE_BOARD), whose)
    )
    seated = (
        select(BotVersion.source)
        .join(MatchSeat, MatchSeat.version_id == BotVersion.id)
        .join(Match, Match.id == MatchSeat.match_id)
        .where(text(OPEN), whose)
    )
    submitted = select(Submission.source).where(text(ON_ITS_WAY), Submission.source.is_not(None))
    return frozenset(connection.execute(union(playing, seated, submitted)).scalars())


def add_version(connection: Connection, new: NewVersion) -> int:
    """Return the id of the version of a bot that plays now, which is made unless its source is the same.

    A new bot starts at the initial rating; a further version of it starts from the one that played. It brings
    a bot back that was benched or retired.

    Raises:
        BotDisqualified: It may play no more.
        BotTaken: The name belongs to another author.
    """
    numbers = ladder.lock(connection)  # also: two versions of one bot can't be made at once
    bot = connection.execute(select(Bot.__table__).where(Bot.name == new.bot)).one_or_none()
    if bot is None:
        check_spelling(connection, new.bot)
        values = {
            "name": new.bot,
            "author": new.author,
            "house": new.house,
            "newest": 0,
            "account_id": new.account,
            "playing": 0,
        }
        bot = connection.execute(insert(Bot).values(values).returning(*Bot.__table__.columns)).one()
    elif (bot.author, bot.house, bot.account_id) != (new.author, new.house, new.account):
        raise BotTaken(f"the name {new.bot} belongs to a bot of {bot.author}: choose another")
    elif bot.state == BotState.DISQUALIFIED:
        raise BotDisqualified(disqualified(new.bot, bot.reason))
    # What is entered has an image, also for versions whose own was removed.
    connection.execute(
        update(BotVersion)
        .where(BotVersion.source == new.source, BotVersion.gone.is_not(None))
        .values(gone=None)
    )
    previous = connection.execute(
        select(BotVersion.id, BotVersion.source)
        .where(BotVersion.bot_id == bot.id)
        .where(BotVersion.number == bot.playing)
    ).one_or_none()
    if previous is not None and previous.source == new.source:
        if bot.state != BotState.ACTIVE:
            set_playing(connection, bot.id, bot.playing, new.created)
        return int(previous.id)
    number = bot.newest + 1
    values = {
        "bot_id": bot.id,
        "number": number,
        "source": new.source,
        "created": new.created,
        "note": new.note,
        "size": new.size,
        "sha256": new.sha256,
    }
    version = connection.execute(insert(BotVersion).values(values).returning(BotVersion.id)).scalar_one()
    connection.execute(update(Bot).where(Bot.id == bot.id).values(newest=number))
    set_playing(connection, bot.id, number, new.created)
    event = VersionStarted(version=version, previous=None if previous is None else previous.id)
    ladder.append(connection, [Logged(numbers.events + 1, event)], numbers.games, barred=frozenset())
    return version


def check_spelling(connection: Connection, name: str) -> None:
    """Make sure that no bot's name differs from this one in case alone.

    Raises:
        BotTaken: One does.
    """
    other = connection.execute(
        select(Bot.name).where(func.lower(Bot.name) == name.lower(), Bot.name != name).limit(1)
    ).scalar_one_or_none()
    if other is not None:
        raise BotTaken(f"the name {name} differs from that of the bot {other} in case alone: choose another")


def playable(connection: Connection, bot: str, number: int) -> int | None:
    """Return the id of a version that may play: of no disqualified bot, with an image that is there."""
    return connection.execute(
        select(BotVersion.id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(Bot.name == bot, Bot.state != BotState.DISQUALIFIED)
        .where(BotVersion.number == number, BotVersion.gone.is_(None))
    ).scalar_one_or_none()


def set_playing(connection: Connection, bot: int, number: int, at: datetime) -> None:
    """Let this version of a bot play, whatever has kept the bot from playing.

    What benched it is forgiven then, and only then: else who changes versions often would never be benched.
    """
    forgiven = case(
        (Bot.state == BotState.BENCHED, bindparam(None, at, Bot.forgiven.type)), else_=Bot.forgiven
    )
    connection.execute(
        update(Bot)
        .where(Bot.id == bot)
        .values(playing=number, state=BotState.ACTIVE, reason=None, since=at, forgiven=forgiven)
    )
    revisions.changed(connection, Bot.id == bot)


def disqualified(bot: str, reason: str | None) -> str:
    """Return what the owner of a disqualified bot is told."""
    return f"{bot} was disqualified and plays no more: {reason}"
