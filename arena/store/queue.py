"""The queue of matches: the database is the only one, and a match's row exists before it is played."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, ScalarSelect, Select, exists, func, select, text
from sqlalchemy.orm import aliased

from arena.match import RuntimeName
from arena.store.bot_models import Bot, BotVersion
from arena.store.matches import ClaimedSeat
from arena.store.models import OPEN, QUARANTINED, Match, MatchKind, MatchSeat, MatchState
from arena.store.seated import AUTHOR, BOT, seated
from arena.store.submission_models import Submission


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePlace:
    """Where a bot is in the queue.

    Attributes:
        running: Rated matches that are being played with it.
        waiting: Rated matches that wait with it.
        ahead: Matches of any kind that come before the first of these; None where none waits.
    """

    running: int
    waiting: int
    ahead: int | None


def place(connection: Connection, bot: str) -> QueuePlace:
    """Return where a bot is in the queue. That costs as much as the queue is long, which is never much."""
    sits = (
        select(MatchSeat.seat)
        .join(BotVersion, BotVersion.id == MatchSeat.version_id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(MatchSeat.match_id == Match.id, Bot.name == bot)
    )
    mine = exists(sits.correlate(Match)) & (Match.kind == MatchKind.RATED)
    running, due = (
        connection.execute(_open(state).with_only_columns(mine)).scalars().all()
        for state in (MatchState.RUNNING, MatchState.WAITING)
    )
    first = next((index for index, its in enumerate(due) if its), None)
    return QueuePlace(running=sum(map(bool, running)), waiting=sum(map(bool, due)), ahead=first)


def waiting(
    connection: Connection, runtime: RuntimeName, *, house_only: bool = False, rated_only: bool = False
) -> int:
    """Return how many matches wait for this runtime.

    Args:
        connection: To the store.
        runtime: How bots are run here.
        house_only: Whether only those without strangers' bots are counted.
        rated_only: Whether only those for the ladder are counted.
    """
    wanted = _playable(runtime, house_only=house_only).order_by(None)
    if rated_only:
        wanted = wanted.where(Match.kind == MatchKind.RATED)
    mine = wanted.subquery()
    return connection.execute(select(func.count()).select_from(mine)).scalar_one()


def quarantined(connection: Connection) -> int:
    """Return how many matches have been put aside."""
    return connection.execute(select(func.count()).select_from(Match).where(text(QUARANTINED))).scalar_one()


def due(
    connection: Connection,
    runtime: RuntimeName,
    *,
    house_only: bool = False,
    without: Collection[str] = (),
) -> int | None:
    """Return how many seats the match has that is due, or None where none waits for this runtime."""
    playable = _playable(runtime, house_only=house_only, without=without)
    wanted = playable.with_only_columns(_seats()).limit(1)
    return connection.execute(wanted).scalar_one_or_none()


def next_of(
    connection: Connection,
    runtime: RuntimeName,
    *,
    most: int | None,
    house_only: bool = False,
    without: Collection[str] = (),
) -> str | None:
    """Return the match that is due, locked against others, or None where none waits that they leave.

    Qualifications come first, then sets that somebody new waits for, then the rest, each in their order.

    Args:
        connection: To the store, for writing.
        runtime: How bots are run.
        most: It may have so many seats; None for any number.
        house_only: Whether strangers' bots must not sit in it.
        without: Ids of matches that are passed over.
    """
    wanted = _playable(runtime, house_only=house_only, without=without)
    if most is not None:
        wanted = wanted.where(_seats() <= most)
    return connection.execute(
        wanted.limit(1).with_for_update(skip_locked=True, of=Match)
    ).scalar_one_or_none()


def claimed_seats(connection: Connection, match: str) -> tuple[ClaimedSeat, ...]:
    """Return who sits in a match, in seat order."""
    return tuple(_claimed_seat(row) for row in connection.execute(_seated(match)))


def _seated(match: str) -> Select[*tuple[Any, ...]]:
    """Select who sits in a match, in seat order. A submission's bot may be there already, or not yet."""
    submitted = aliased(Bot)
    number = func.coalesce(BotVersion.number, submitted.newest + 1, 1)
    return (
        seated(MatchSeat.version_id, BOT, number.label("number"), AUTHOR)
        .outerjoin(submitted, submitted.name == Submission.bot)
        .where(MatchSeat.match_id == match)
    )


def _claimed_seat(row: Row[*tuple[Any, ...]]) -> ClaimedSeat:
    return ClaimedSeat(version=row.version_id, bot=row.bot, number=row.number, author=row.author)


def of_the_house() -> ColumnElement[bool]:
    """Tell of a match whether all that sit in it are the arena's own bots."""
    stranger = (
        select(MatchSeat.seat)
        .outerjoin(BotVersion, BotVersion.id == MatchSeat.version_id)
        .outerjoin(Bot, Bot.id == BotVersion.bot_id)
        .where(MatchSeat.match_id == Match.id)
        .where(Bot.house.is_(False) | MatchSeat.submission_number.is_not(None))
    )
    return ~exists(stranger.correlate(Match))


def _seats() -> ScalarSelect[int]:
    """Select of a match how many sit in it."""
    sits = select(func.count()).select_from(MatchSeat).where(MatchSeat.match_id == Match.id)
    return sits.correlate(Match).scalar_subquery()


def _playable(runtime: RuntimeName, *, house_only: bool, without: Collection[str] = ()) -> Select[str]:
    mine = _open(MatchState.WAITING).where(Match.runtime == runtime)
    if without:
        mine = mine.where(Match.id.not_in(without))
    return mine.where(of_the_house()) if house_only else mine


def _open(state: MatchState) -> Select[str]:
    """Select the matches of an open state as they are due, through the index of open matches."""
    return (
        select(Match.id)
        .where(text(OPEN), Match.state == state)
        .order_by(Match.precedence, Match.set_number, Match.position)
    )
