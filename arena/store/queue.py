"""The queue of matches: the database is the only one, and a match's row exists before it is played.

    waiting ──claim──▶ running ──record──▶ done
       ▲                  │
       └─────release──────┤
       └──void, at most twice ── void, the third time ──▶ quarantined

``attempt`` rises with every claim. A write that names another attempt than the
last one changes nothing, so a worker that comes back late does no harm.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, exists, func, select, text, update
from sqlalchemy.orm import aliased

from arena.match import MatchSpec, RuntimeName, decode
from arena.store.bot_models import Bot, BotVersion
from arena.store.matches import Claim, ClaimedSeat
from arena.store.models import OPEN, QUARANTINED, Match, MatchKind, MatchSeat, MatchState
from arena.store.submission_models import Submission

_VOIDS = 3
"""Faults of the arena in one match before somebody has to look at it."""


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


def claim(
    connection: Connection, at: datetime, runtime: RuntimeName, *, house_only: bool = False
) -> Claim | None:
    """Take the match for this runtime that is due, or return None where none waits.

    Qualifications come first, then sets that somebody new waits for, then the rest, each in their order.

    Args:
        connection: To the store, for writing.
        at: UTC.
        runtime: How bots are run here.
        house_only: Whether strangers' bots must not play here. Then their matches go on waiting.
    """
    oldest = connection.execute(
        _playable(runtime, house_only=house_only).limit(1).with_for_update(skip_locked=True, of=Match)
    ).scalar_one_or_none()
    if oldest is None:
        return None
    row = connection.execute(
        update(Match)
        .where(Match.id == oldest, Match.state == MatchState.WAITING)
        .values(state=MatchState.RUNNING, attempt=Match.attempt + 1, started=at)
        .returning(Match.spec, Match.attempt, Match.kind)
    ).one()
    return Claim(
        spec=replace(decode(row.spec, MatchSpec), attempt=row.attempt),
        seats=tuple(_claimed_seat(row) for row in connection.execute(_seated(oldest))),
        rated=row.kind == MatchKind.RATED,
    )


def _seated(match: str) -> Select[int | None, str, int, str]:
    """Select who sits in a match, in seat order. A submission's bot may be there already, or not yet."""
    submitted = aliased(Bot)
    return (
        select(
            MatchSeat.version_id,
            func.coalesce(Bot.name, Submission.bot).label("bot"),
            func.coalesce(BotVersion.number, submitted.newest + 1, 1).label("number"),
            func.coalesce(Bot.author, Submission.author).label("author"),
        )
        .outerjoin(BotVersion, BotVersion.id == MatchSeat.version_id)
        .outerjoin(Bot, Bot.id == BotVersion.bot_id)
        .outerjoin(Submission, Submission.number == MatchSeat.submission_number)
        .outerjoin(submitted, submitted.name == Submission.bot)
        .where(MatchSeat.match_id == match)
        .order_by(MatchSeat.seat)
    )


def _claimed_seat(row: Row[*tuple[Any, ...]]) -> ClaimedSeat:
    return ClaimedSeat(version=row.version_id, bot=row.bot, number=row.number, author=row.author)


def release_running(connection: Connection) -> int:
    """Let everything that runs wait again, and return how many matches that were.

    For the start of the only coordinator: whoever ran them is gone. It counts as no fault.
    """
    running = connection.execute(_open(MatchState.RUNNING).with_for_update()).scalars().all()
    connection.execute(
        update(Match)
        .where(Match.id.in_(running), Match.state == MatchState.RUNNING)
        .values(state=MatchState.WAITING, started=None)
    )
    return len(running)


def void(connection: Connection, match: str, attempt: int, reason: str, at: datetime) -> MatchState | None:
    """Drop an attempt that the arena has spoilt; the third one goes to quarantine.

    Returns:
        Where the match is now, or None where the attempt isn't the current one: then nothing changed.
    """
    mine = (Match.id == match, Match.attempt == attempt, Match.state == MatchState.RUNNING)
    voids = connection.execute(
        update(Match).where(*mine).values(voids=Match.voids + 1, reason=reason).returning(Match.voids)
    ).scalar_one_or_none()
    if voids is None:
        return None
    if voids >= _VOIDS:
        connection.execute(update(Match).where(*mine).values(state=MatchState.QUARANTINED, ended=at))
        return MatchState.QUARANTINED
    connection.execute(update(Match).where(*mine).values(state=MatchState.WAITING, started=None))
    return MatchState.WAITING


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


def _playable(runtime: RuntimeName, *, house_only: bool) -> Select[str]:
    mine = _open(MatchState.WAITING).where(Match.runtime == runtime)
    return mine.where(of_the_house()) if house_only else mine


def _open(state: MatchState) -> Select[str]:
    """Select the matches of an open state as they are due, through the index of open matches."""
    return (
        select(Match.id)
        .where(text(OPEN), Match.state == state)
        .order_by(Match.precedence, Match.set_number, Match.position)
    )
