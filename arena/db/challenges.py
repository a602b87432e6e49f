"""Challenges: unrated matches that accounts request.

All matches in a challenge have the same deals. From one match to the next, every bot moves up one seat.
The matches run one by one and are published together at the end. Until then, the challenge's owner can watch
finished rounds on the live page. This gives no advantage: versions are fixed, and a running bot sees only
its own game.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, func, insert, select, text

from arena.db import ladder, quotas
from arena.db import matches as new_matches
from arena.db.database import Repository, from_row
from arena.db.errors import QuotaReached
from arena.db.matches import NewMatch
from arena.db.schema import OPEN_MATCH, BotRow, BotVersionRow, ChallengeRow, MatchRow, UnratedGameRow
from arena.platform.text import counted
from arena.protocol.states import MatchState

MAX_OPEN: Final = 3
"""Maximum number of open challenges per account."""

TIME: Final = timedelta(minutes=3)
"""Playing time per day that an account gets for each challenge in its daily quota.

Without a limit, challenges with a few slow bots would occupy a small host for hours.
"""

_DAY: Final = timedelta(days=1)
_MINUTE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChallenge:
    """A challenge to add."""

    id: str  # at most 40 characters
    account: int  # id of the account that requests it
    version: int  # id of the challenging version; it plays in every match
    matches: tuple[NewMatch, ...]  # in the order of play; all have the same deals

    @property
    def created(self) -> datetime:
        """Time of the request, in UTC."""
        return self.matches[0].created


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeGame:
    """A game in a challenge."""

    game: str  # its id
    ended: datetime  # UTC
    replay: str  # as JSON text (`sushigo-replay/1`)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownChallenge:
    """A challenge and its progress."""

    number: int  # its position among all challenges
    id: str
    account: int  # id of the account that requested it
    bot: str  # name of the challenging bot
    version: int  # its number
    created: datetime  # UTC
    deals: int  # deals per match
    seats: tuple[tuple[str, int], ...]  # (bot, version) in the seat order of the first match
    states: tuple[MatchState, ...]  # of its matches
    running: tuple[str, ...]  # ids of its running matches
    games: tuple[ChallengeGame, ...]  # in order; empty until all matches are over


class Challenges(Repository):
    """Matches that accounts request."""

    def add(self, new: NewChallenge, *, max_a_day: int) -> KnownChallenge:
        """Add a challenge and its matches, and return the challenge.

        ``max_a_day`` is the default quota per 24 hours; the account's own quota overrides it. Raises
        QuotaReached if there are too many challenges or too much playing time within a day, or too many open
        challenges. Raises ValueError if a version doesn't exist.
        """
        with self._transactions.write() as connection:
            ladder.lock(connection)  # so that concurrent challenges can't exceed the quota
            own = quotas.quota_of(connection, new.account).challenges_a_day
            limit = max_a_day if own is None else own
            within_a_day = select(ChallengeRow.created).where(
                ChallengeRow.account_id == new.account, ChallengeRow.created > new.created - _DAY
            )
            times = connection.execute(within_a_day).scalars().all()
            if len(times) >= limit:
                raise QuotaReached(
                    f"you have requested {counted(len(times), 'challenge')} in the last 24 hours; "
                    f"the limit is {limit}",
                    quotas.wait_for(times, limit, new.created),
                )
            _check_time(connection, new, limit * TIME)
            # Challenges delay the rated games queued after them, so only a few may be open.
            if (open_ones := _open_count(connection, new.account)) >= MAX_OPEN:
                raise QuotaReached(
                    f"you have {counted(open_ones, 'challenge')} in progress, and the limit is {MAX_OPEN}: "
                    "wait until one of them has finished"
                )
            number = connection.execute(
                insert(ChallengeRow)
                .values(
                    id=new.id,
                    account_id=new.account,
                    version_id=new.version,
                    deals=len(new.matches[0].seeds),
                    created=new.created,
                )
                .returning(ChallengeRow.number)
            ).scalar_one()
            for match in new.matches:
                new_matches.add(connection, match, challenge=number)
            added = connection.execute(_challenges().where(ChallengeRow.number == number)).one()
            return _known(connection, added)

    def find(self, id_: str) -> KnownChallenge | None:
        """Return the challenge with this id, or None."""
        with self._transactions.read() as connection:
            row = connection.execute(_challenges().where(ChallengeRow.id == id_)).one_or_none()
            return None if row is None else _known(connection, row)

    def newest(self, account: int, before: int | None = None, limit: int = 20) -> tuple[KnownChallenge, ...]:
        """Return an account's challenges with numbers below ``before``, newest first."""
        query = (
            _challenges()
            .where(ChallengeRow.account_id == account)
            .order_by(ChallengeRow.number.desc())
            .limit(limit)
        )
        if before is not None:
            query = query.where(ChallengeRow.number < before)
        with self._transactions.read() as connection:
            return tuple(_known(connection, row) for row in connection.execute(query).all())


def _check_time(connection: Connection, new: NewChallenge, limit: timedelta) -> None:
    """Raise QuotaReached if the account's challenge matches took ``limit`` or longer within a day.

    Running matches don't count yet: while no coordinator is running, their time would grow although they are
    not being played.
    """
    matches = connection.execute(
        select(MatchRow.started, MatchRow.ended)
        .join(ChallengeRow, ChallengeRow.number == MatchRow.challenge_number)
        .where(ChallengeRow.account_id == new.account, MatchRow.started.is_not(None))
        .where(MatchRow.ended > new.created - _DAY)
        .order_by(MatchRow.ended)
    ).all()
    left = played = sum((match.ended - match.started for match in matches), timedelta())
    if played < limit:
        return
    for match in matches:
        left -= match.ended - match.started
        if left < limit:
            raise QuotaReached(
                f"your challenges' matches have taken {played // _MINUTE} minutes in the last 24 "
                f"hours; the limit is {limit // _MINUTE}",
                match.ended + _DAY - new.created,
            )


def _open_count(connection: Connection, account: int) -> int:
    return connection.execute(
        select(func.count(ChallengeRow.id.distinct()))
        .join(MatchRow, MatchRow.challenge_number == ChallengeRow.number)
        .where(ChallengeRow.account_id == account, text(OPEN_MATCH))
    ).scalar_one()


def is_open(connection: Connection, number: int | None) -> bool:
    """Return True if any of a challenge's matches is waiting or running; False if ``number`` is None."""
    open_matches = select(MatchRow.id).where(text(OPEN_MATCH), MatchRow.challenge_number == number).limit(1)
    return number is not None and connection.execute(open_matches).scalar_one_or_none() is not None


def is_published(connection: Connection, number: int) -> bool:
    """Return True if a challenge's games can be viewed: all matches are over, and at least one was played."""
    games = select(UnratedGameRow.id).join(MatchRow, MatchRow.id == UnratedGameRow.match_id)
    played = connection.execute(
        games.where(MatchRow.challenge_number == number).limit(1)
    ).scalar_one_or_none()
    return played is not None and not is_open(connection, number)


def _challenges() -> Select[Any]:
    return (
        select(ChallengeRow.__table__, ChallengeRow.account_id.label("account"))
        .add_columns(BotRow.name.label("bot"), BotVersionRow.number.label("version"))
        .join(BotVersionRow, BotVersionRow.id == ChallengeRow.version_id)
        .join(BotRow, BotRow.id == BotVersionRow.bot_id)
    )


def _known(connection: Connection, row: Row[Any]) -> KnownChallenge:
    matches = connection.execute(
        select(MatchRow.id, MatchRow.state)
        .where(MatchRow.challenge_number == row.number)
        .order_by(MatchRow.number)
    ).all()
    seats = new_matches.participants(connection, [match.id for match in matches[:1]])
    return from_row(
        KnownChallenge,
        row,
        seats=tuple((seat.bot, seat.version) for seat in next(iter(seats.values()), ())),
        states=tuple(match.state for match in matches),
        running=tuple(match.id for match in matches if match.state == MatchState.RUNNING),
        games=() if is_open(connection, row.number) else _games(connection, row.number),
    )


def _games(connection: Connection, challenge: int) -> tuple[ChallengeGame, ...]:
    rows = connection.execute(
        select(UnratedGameRow.id.label("game"), UnratedGameRow.ended, UnratedGameRow.replay)
        .join(MatchRow, MatchRow.id == UnratedGameRow.match_id)
        .where(MatchRow.challenge_number == challenge)
        .order_by(MatchRow.number, UnratedGameRow.position)
    )
    return tuple(from_row(ChallengeGame, row) for row in rows)
