"""Matches that somebody asked for: nobody's rating knows of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, func, insert, select, text

from arena.store import ladder, quotas, sets
from arena.store.bot_models import Bot, BotVersion
from arena.store.errors import QuotaReached
from arena.store.matches import NewSet
from arena.store.models import OPEN, Challenge, Match, MatchKind, MatchSeat, MatchSet, MatchState
from arena.store.submission_models import UnratedGame

MOST_OPEN: Final = 3
"""Challenges of one account that may wait or be played at a time."""

_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChallenge:
    """What somebody wants to be played.

    Attributes:
        id: Given by the caller, at most 40 characters.
        account: Who asks.
        version: Id of the version that challenges; it is in every seating.
        set: What is played.
    """

    id: str
    account: int
    version: int
    set: NewSet


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeGame:
    """A game of a challenge.

    Attributes:
        game: Its id.
        ended: UTC.
        replay: As JSON text (``sushigo-replay/1``).
    """

    game: str
    ended: datetime
    replay: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownChallenge:
    """A challenge.

    Attributes:
        number: Its place among all.
        id: Its own.
        account: Who asked.
        bot: Name of the bot that challenges.
        version: Its number.
        created: UTC.
        deals: Deals of its set; each is played once a seating.
        seats: Who plays, as (bot, version), in the seat order of the first match.
        states: Of its matches.
        running: Ids of those that are being played.
        games: Those that were played, in their order.
    """

    number: int
    id: str
    account: int
    bot: str
    version: int
    created: datetime
    deals: int
    seats: tuple[tuple[str, int], ...]
    states: tuple[MatchState, ...]
    running: tuple[str, ...]
    games: tuple[ChallengeGame, ...]


def add(connection: Connection, new: NewChallenge, *, most_a_day: int) -> None:
    """Write what somebody wants to be played.

    Args:
        connection: To the store, for writing.
        new: What.
        most_a_day: How many an account may ask for within 24 hours, where nothing else was set for it.

    Raises:
        QuotaReached: It would be too much, within a day or at a time.
        ValueError: A version that isn't there.
    """
    ladder.lock(connection)  # so that nobody else is counted at the same time
    own = quotas.find(connection, new.account).challenges_a_day
    most = most_a_day if own is None else own
    today = connection.execute(
        select(func.count())
        .select_from(Challenge)
        .where(Challenge.account_id == new.account, Challenge.created > new.set.created - _DAY)
    ).scalar_one()
    if today >= most:
        raise QuotaReached(
            f"you have asked for {today} challenges within a day, and {most} is the most",
            _until_one_may_be_asked_for(connection, new, today - most),
        )
    # Rated games wait behind the challenges that were asked for before them: a few at a time, then.
    if (open_ones := _open(connection, new.account)) >= MOST_OPEN:
        raise QuotaReached(
            f"{open_ones} challenges of yours are still played, and {MOST_OPEN} at a time is the most: "
            "ask for the next one when one of them is done"
        )
    sets.add_set(connection, new.set, kind=MatchKind.CHALLENGE)
    number = select(MatchSet.number).where(MatchSet.id == new.set.id).scalar_subquery()
    connection.execute(
        insert(Challenge).values(
            id=new.id,
            account_id=new.account,
            version_id=new.version,
            set_number=number,
            created=new.set.created,
        )
    )


def _until_one_may_be_asked_for(connection: Connection, new: NewChallenge, too_many: int) -> timedelta | None:
    """Return how long it takes until so many of a day's challenges and one more are a day old."""
    created = connection.execute(
        select(Challenge.created)
        .where(Challenge.account_id == new.account, Challenge.created > new.set.created - _DAY)
        .order_by(Challenge.created)
        .offset(too_many)
        .limit(1)
    ).scalar_one_or_none()
    return None if created is None else created + _DAY - new.set.created


def _open(connection: Connection, account: int) -> int:
    """Return how many challenges of an account are not over."""
    return connection.execute(
        select(func.count(Challenge.id.distinct()))
        .join(Match, Match.set_number == Challenge.set_number)
        .where(Challenge.account_id == account, text(OPEN))
    ).scalar_one()


def find(connection: Connection, id_: str) -> KnownChallenge | None:
    """Return the challenge of this id, or None where there is none."""
    row = connection.execute(_challenges().where(Challenge.id == id_)).one_or_none()
    return None if row is None else _known(connection, [row])[0]


def newest(
    connection: Connection, account: int, before: int | None, limit: int
) -> tuple[KnownChallenge, ...]:
    """Return the challenges of an account, newest first, with a smaller number than ``before``."""
    wanted = (
        _challenges().where(Challenge.account_id == account).order_by(Challenge.number.desc()).limit(limit)
    )
    if before is not None:
        wanted = wanted.where(Challenge.number < before)
    return _known(connection, connection.execute(wanted).all())


def _challenges() -> Select[Any]:
    return (
        select(Challenge.__table__, Bot.name.label("bot"), BotVersion.number.label("version"), MatchSet.deals)
        .join(BotVersion, BotVersion.id == Challenge.version_id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .join(MatchSet, MatchSet.number == Challenge.set_number)
    )


def _known(connection: Connection, rows: Iterable[Row[Any]]) -> tuple[KnownChallenge, ...]:
    return tuple(
        KnownChallenge(
            number=row.number,
            id=row.id,
            account=row.account_id,
            bot=row.bot,
            version=row.version,
            created=row.created,
            deals=row.deals,
            seats=_seats(connection, row.set_number),
            states=_states(connection, row.set_number),
            running=_running(connection, row.set_number),
            games=_games(connection, row.set_number),
        )
        for row in rows
    )


def _seats(connection: Connection, set_number: int) -> tuple[tuple[str, int], ...]:
    rows = connection.execute(
        select(Bot.name, BotVersion.number)
        .select_from(MatchSeat)
        .join(Match, Match.id == MatchSeat.match_id)
        .join(BotVersion, BotVersion.id == MatchSeat.version_id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(Match.set_number == set_number, Match.position == 0)
        .order_by(MatchSeat.seat)
    )
    return tuple((row.name, row.number) for row in rows)


def _states(connection: Connection, set_number: int) -> tuple[MatchState, ...]:
    rows = connection.execute(
        select(Match.state).where(Match.set_number == set_number).order_by(Match.position)
    )
    return tuple(MatchState(state) for state in rows.scalars())


def _running(connection: Connection, set_number: int) -> tuple[str, ...]:
    rows = connection.execute(
        select(Match.id)
        .where(Match.set_number == set_number, Match.state == MatchState.RUNNING)
        .order_by(Match.position)
    )
    return tuple(rows.scalars())


def _games(connection: Connection, set_number: int) -> tuple[ChallengeGame, ...]:
    rows = connection.execute(
        select(UnratedGame.id, UnratedGame.ended, UnratedGame.replay)
        .join(Match, Match.id == UnratedGame.match_id)
        .where(Match.set_number == set_number)
        .order_by(Match.position, UnratedGame.position)
    )
    return tuple(ChallengeGame(game=row.id, ended=row.ended, replay=row.replay) for row in rows)
