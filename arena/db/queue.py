"""The queue of matches, and the quarantine for matches that failed too often.

The database is the only queue: a match has a row before it is played.
"""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    ScalarSelect,
    Select,
    and_,
    delete,
    exists,
    func,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.orm import aliased

from arena.db import audit, challenges, ladder, matches
from arena.db.audit import NewAuditEntry
from arena.db.database import Repository, from_row
from arena.db.errors import BotDisqualified, NoSuchMatch, VersionGone, WrongState
from arena.db.matches import AUTHOR, BOT, ClaimedSeat, NewMatch, participants, seated
from arena.db.schema import (
    OPEN_MATCH,
    QUARANTINED,
    BotRow,
    BotVersionRow,
    MatchRow,
    MatchSeatRow,
    SubmissionRow,
)
from arena.protocol.match import RuntimeName
from arena.protocol.states import BotState, MatchKind, MatchState
from arena.protocol.status import QuarantineEntry, Seated
from arena.protocol.submissions import Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePlace:
    """A bot's place in the queue."""

    running: int  # its running rated matches
    waiting: int  # its waiting rated matches
    ahead: int | None  # waiting matches of any kind ahead of the bot's first one; None if it has none waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenMatch:
    """A running match, rated or not."""

    match: str  # its id
    kind: MatchKind
    players: int
    deals: int  # number of games
    started: datetime  # UTC
    worker: str  # its name; empty if an old version of the arena, which recorded no names, claimed the match
    coordinator: str  # the id of its coordinator's installation; empty as above
    seats: tuple[Seated, ...]


_COUNTED_STATES: Final = (MatchState.WAITING, MatchState.RUNNING, MatchState.QUARANTINED)


class MatchQueue(Repository):
    """Waiting and quarantined matches."""

    def add(self, new: NewMatch) -> None:
        """Queue a rated match, unless one of its bots is disqualified.

        Raises ValueError if a version doesn't exist.
        """
        with suppress(BotDisqualified), self._transactions.write() as connection:
            matches.add(connection, new)

    def place(self, bot: str) -> QueuePlace:
        """Return a bot's place in the queue. Reads the whole queue, which is always short."""
        mine = any_seat(BotRow.name == bot) & (MatchRow.kind == MatchKind.RATED)
        with self._transactions.read() as connection:
            running, due = [
                connection.execute(_open(state).with_only_columns(mine)).scalars().all()
                for state in (MatchState.RUNNING, MatchState.WAITING)
            ]
        first = next((index for index, its in enumerate(due) if its), None)
        return QueuePlace(running=sum(map(bool, running)), waiting=sum(map(bool, due)), ahead=first)

    def waiting(self, runtime: RuntimeName, *, house_only: bool = False, rated_only: bool = False) -> int:
        """Return the number of matches waiting for this runtime; ``house_only`` is as in :func:`playable`."""
        query = playable(runtime, house_only=house_only).order_by(None)
        if rated_only:
            query = query.where(MatchRow.kind == MatchKind.RATED)
        mine = query.subquery()
        with self._transactions.read() as connection:
            return connection.execute(select(func.count()).select_from(mine)).scalar_one()

    def sizes(self) -> dict[tuple[MatchState, MatchKind], int]:
        """Return the numbers of waiting, running and quarantined matches, by kind, including zeros."""
        with self._transactions.read() as connection:
            return sizes(connection)

    def quarantined(self, limit: int | None = None) -> tuple[QuarantineEntry, ...]:
        """Return the quarantined matches, latest first: at most ``limit``, or all if it is None."""
        with self._transactions.read() as connection:
            rows = connection.execute(
                select(MatchRow.id.label("match"), MatchRow.kind, MatchRow.reason)
                .add_columns(MatchRow.attempt.label("attempts"), MatchRow.ended.label("since"))
                .where(text(QUARANTINED))
                .order_by(MatchRow.ended.desc(), MatchRow.id)
                .limit(limit)
            ).all()
            seats = participants(connection, [row.match for row in rows])
            return tuple(from_row(QuarantineEntry, row, seats=seats[row.match]) for row in rows)

    def release(self, match: str, entry: NewAuditEntry) -> None:
        """Requeue a quarantined match, with its failure counts reset.

        Raises BotDisqualified, NoSuchMatch or VersionGone. Raises WrongState if the match is not quarantined
        or is a qualification match, or if its challenge's games are published.
        """
        with self._transactions.write() as connection:
            _release(connection, match)
            audit.record(connection, entry)


def sizes(connection: Connection) -> dict[tuple[MatchState, MatchKind], int]:
    """Return the numbers of waiting, running and quarantined matches, by kind, including zeros."""
    found = dict.fromkeys(((state, kind) for state in _COUNTED_STATES for kind in MatchKind), 0)
    for part in (OPEN_MATCH, QUARANTINED):  # each has a separate index
        rows = connection.execute(
            select(MatchRow.state, MatchRow.kind, func.count().label("many"))
            .where(text(part))
            .group_by(MatchRow.state, MatchRow.kind)
        )
        found |= {(MatchState(row.state), MatchKind(row.kind)): row.many for row in rows}
    return found


def running(connection: Connection) -> tuple[OpenMatch, ...]:
    """Return all running matches, oldest first."""
    matches = connection.execute(
        select(MatchRow.id.label("match"), MatchRow.kind, MatchRow.players, MatchRow.deals, MatchRow.started)
        .add_columns(func.coalesce(MatchRow.worker, "").label("worker"))
        .add_columns(func.coalesce(MatchRow.coordinator, "").label("coordinator"))
        .where(text(OPEN_MATCH), MatchRow.state == MatchState.RUNNING)
        .order_by(MatchRow.started, MatchRow.id)
    ).all()
    seats = participants(connection, [row.match for row in matches])
    return tuple(from_row(OpenMatch, row, seats=seats[row.match]) for row in matches)


def claimed_seats(connection: Connection, match: str) -> tuple[ClaimedSeat, ...]:
    """Return a match's participants in the order of its specification."""
    submitted = aliased(BotRow)  # a submission's bot, which may exist already
    number = func.coalesce(BotVersionRow.number, submitted.newest + 1, 1)
    rows = connection.execute(
        seated(MatchSeatRow.version_id.label("version"), BOT, number.label("number"), AUTHOR)
        .outerjoin(submitted, submitted.name == SubmissionRow.bot)
        .where(MatchSeatRow.match_id == match)
    )
    return tuple(from_row(ClaimedSeat, row) for row in rows)


def only_house_bots() -> ColumnElement[bool]:
    """Return the condition that all bots in a match are house bots."""
    return ~any_seat(BotRow.house.is_(False) | MatchSeatRow.submission_number.is_not(None))


def seat_count() -> ScalarSelect[int]:
    """Select the number of seats in a match."""
    sits = select(func.count()).select_from(MatchSeatRow).where(MatchSeatRow.match_id == MatchRow.id)
    return sits.correlate(MatchRow).scalar_subquery()


def playable(
    runtime: RuntimeName,  # the runtime for which a match was queued
    *,
    house_only: bool,  # skip matches with untrusted bots
    without: Collection[str] = (),  # ids of matches to skip
) -> Select[str]:
    """Select the waiting matches that may start, in the order of the queue.

    Qualifications come first, then matches that a new bot is waiting for, then the rest. Each group is
    ordered by number. A challenge's matches run one at a time.
    """
    mine = _open(MatchState.WAITING).where(
        MatchRow.runtime == runtime, _is_next_of_challenge(), ~any_seat(or_(_IS_EXCLUDED, _IS_GONE))
    )
    if without:
        mine = mine.where(MatchRow.id.not_in(without))
    return mine.where(only_house_bots()) if house_only else mine


def delete_cancelled(connection: Connection) -> None:
    """Delete the waiting matches that will never be played.

    A match is cancelled if one of its bots is disqualified, its submission is no longer qualifying, or it
    needs an old version of a house bot that no longer exists.
    """
    cancelled = any_seat(or_(_IS_EXCLUDED, and_(_IS_GONE, BotVersionRow.number != BotRow.playing)))
    # A locked match is being claimed or deleted, so don't wait for it.
    waiting = _open(MatchState.WAITING).where(cancelled).with_for_update(skip_locked=True, of=MatchRow)
    deleted = connection.execute(waiting).scalars().all()
    connection.execute(delete(MatchSeatRow).where(MatchSeatRow.match_id.in_(deleted)))
    connection.execute(delete(MatchRow).where(MatchRow.id.in_(deleted)))


_IS_EXCLUDED: Final = or_(BotRow.state == BotState.DISQUALIFIED, SubmissionRow.stage != Stage.QUALIFYING)
"""The bot in a seat is disqualified, or the submission isn't qualifying."""

_IS_GONE: Final = and_(BotRow.house, BotVersionRow.gone.is_not(None))
"""The source of the house bot in a seat doesn't exist."""


def any_seat(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return the condition that at least one seat of a match meets ``condition``."""
    seats = (
        select(MatchSeatRow.seat)
        .outerjoin(BotVersionRow, BotVersionRow.id == MatchSeatRow.version_id)
        .outerjoin(BotRow, BotRow.id == BotVersionRow.bot_id)
        .outerjoin(SubmissionRow, SubmissionRow.number == MatchSeatRow.submission_number)
        .where(MatchSeatRow.match_id == MatchRow.id, condition)
    )
    return exists(seats.correlate(MatchRow))


def _is_next_of_challenge() -> ColumnElement[bool]:
    """Return the condition that no match in the same challenge is running, or waiting ahead of this one."""
    other = aliased(MatchRow)
    before = select(other.id).where(
        other.challenge_number == MatchRow.challenge_number,
        or_(
            other.state == MatchState.RUNNING,
            and_(other.state == MatchState.WAITING, other.number < MatchRow.number),
        ),
    )
    return or_(MatchRow.challenge_number.is_(None), ~exists(before.correlate(MatchRow)))


def _open(state: MatchState) -> Select[str]:
    """Select the matches in an open state, in queue order, using the index of open matches."""
    return (
        select(MatchRow.id)
        .where(text(OPEN_MATCH), MatchRow.state == state)
        .order_by(MatchRow.precedence, MatchRow.number)
    )


def _release(connection: Connection, match: str) -> None:
    ladder.lock(connection)  # so that no bot is disqualified at the same time
    row = connection.execute(
        select(MatchRow.state, MatchRow.kind, MatchRow.challenge_number).where(MatchRow.id == match)
    ).one_or_none()
    if row is None:
        raise NoSuchMatch(f"no match has the id {match}")
    if row.state != MatchState.QUARANTINED:
        raise WrongState(f"match {match} is {row.state}, not quarantined")
    if row.kind == MatchKind.QUALIFICATION:
        raise WrongState(f"match {match} is part of a qualification, which gets another match automatically")
    if row.challenge_number is not None and challenges.is_published(connection, row.challenge_number):
        raise WrongState(
            f"match {match} belongs to a challenge whose games are published, so its deals are known: "
            "the author can request another challenge"
        )
    columns = (BOT, BotVersionRow.number, BotVersionRow.gone, BotRow.state, BotRow.reason)
    for bot in connection.execute(seated(*columns).where(MatchSeatRow.match_id == match)):
        if bot.state == BotState.DISQUALIFIED:
            raise BotDisqualified(bot.bot, bot.reason)
        if bot.gone is not None:
            raise VersionGone(
                f"the image of {bot.bot}@{bot.number} was removed on {bot.gone:%Y-%m-%d} to make room: "
                "the match can no longer be played"
            )
    connection.execute(
        update(MatchRow)
        .where(MatchRow.id == match)
        .values(state=MatchState.WAITING, voids=0, losses=0, started=None, ended=None, reason=None)
        .values(logs=True, replays=True)  # retention clears them in quarantine
    )
