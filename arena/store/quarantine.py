"""Matches that were put aside because the arena failed them too often."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select, text, update

from arena.store import ladder
from arena.store.bot_models import Bot, BotState, BotVersion
from arena.store.errors import BotDisqualified, NoSuchMatch, VersionGone, WrongState
from arena.store.models import QUARANTINED, Match, MatchKind, MatchSeat, MatchState
from arena.store.seated import BOT, seated, who_sits
from arena.store.versions import disqualified


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantinedMatch:
    """A match that was put aside.

    Attributes:
        match: Its id.
        kind: What it is for.
        seats: Who sits there, as (bot, version), in seat order; no version is a submission that is none yet.
        attempts: How often it was begun.
        reason: Why the arena failed it the last time.
        since: UTC.
    """

    match: str
    kind: MatchKind
    seats: tuple[tuple[str, int | None], ...]
    attempts: int
    reason: str
    since: datetime


def listed(connection: Connection, limit: int | None = None) -> tuple[QuarantinedMatch, ...]:
    """Return those that were put aside, the last one first: all, or so many at most."""
    wanted = select(Match.id, Match.kind, Match.attempt, Match.reason, Match.ended).where(text(QUARANTINED))
    rows = connection.execute(wanted.order_by(Match.ended.desc(), Match.id).limit(limit)).all()
    seats = who_sits(connection, [row.id for row in rows])
    return tuple(_known(row, seats[row.id]) for row in rows)


def release(connection: Connection, match: str) -> None:
    """Let a match that was put aside wait again; it may fail as often as a new one.

    Raises:
        BotDisqualified: A bot that sits in it plays no more.
        NoSuchMatch: There is none of that id.
        VersionGone: The image of a bot that sits in it was removed.
        WrongState: It was not put aside, or its submission plays another one instead.
    """
    ladder.lock(connection)  # so that nobody is disqualified at the same time
    row = connection.execute(select(Match.state, Match.kind).where(Match.id == match)).one_or_none()
    if row is None:
        raise NoSuchMatch(f"there is no match {match}")
    if row.state != MatchState.QUARANTINED:
        raise WrongState(f"match {match} is {row.state}: it was not put aside")
    if row.kind == MatchKind.QUALIFICATION:
        raise WrongState(f"match {match} qualifies a submission, which is given another one by itself")
    columns = (BOT, BotVersion.number, BotVersion.gone, Bot.state, Bot.reason)
    for bot in connection.execute(seated(*columns).where(MatchSeat.match_id == match)):
        _check_plays(bot)
    connection.execute(
        update(Match)
        .where(Match.id == match)
        .values(state=MatchState.WAITING, voids=0, losses=0, started=None, ended=None, reason=None)
    )


def _check_plays(bot: Row[Any]) -> None:
    if bot.state == BotState.DISQUALIFIED:
        raise BotDisqualified(disqualified(bot.bot, bot.reason))
    if bot.gone is not None:
        raise VersionGone(
            f"the image of {bot.bot}@{bot.number} was removed on {bot.gone:%Y-%m-%d} to make room: "
            "the match can't be played any more"
        )


def _known(row: Row[*tuple[Any, ...]], seats: tuple[tuple[str, int | None], ...]) -> QuarantinedMatch:
    return QuarantinedMatch(
        match=row.id,
        kind=MatchKind(row.kind),
        seats=seats,
        attempts=row.attempt,
        reason=row.reason,
        since=row.ended,
    )
