"""Rate limits: counts of attempts, shared by all of the site's processes."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, cast

from sqlalchemy import Connection, Table, case, delete, or_, select, update

from arena.db.database import Repository, upsert
from arena.db.schema import AttemptRow

MAX_COUNTERS: Final = 100_000
"""Maximum number of rate-limit counters. The limits per address make it costly to create this many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """A rate limit for an action."""

    key: str  # a hash of the action, its subject and the client; 64 characters
    max_attempts: int  # attempts per window
    window: timedelta  # starts with the first attempt


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimitExceeded:
    """An exceeded rate limit."""

    limit: RateLimit
    wait: timedelta  # time until the window ends
    is_first: bool  # whether this is the first attempt over the limit in its window


class RateLimitRepository(Repository):
    """Attempt counters."""

    def count(self, limits: tuple[RateLimit, ...], now: datetime) -> RateLimitExceeded | None:
        """Count an attempt against the limits in order; return the first that it exceeds.

        The attempt doesn't count against the limits after the exceeded one.
        """
        with self._transactions.write() as connection:
            exceeded = (_count(connection, limit, now) for limit in limits)
            full = next((each for each in exceeded if each is not None), None)
            # Do this last: the transaction then locks no more rows, so two such transactions can't deadlock.
            _delete_old_counters(connection, now)
            return full

    def uncount(self, limits: tuple[RateLimit, ...]) -> None:
        """Uncount an attempt that was counted against these limits."""
        with self._transactions.write() as connection:
            for limit in limits:  # in the order of counting, so that two transactions can't deadlock
                is_its = (AttemptRow.key == limit.key, AttemptRow.number > 0)
                connection.execute(update(AttemptRow).where(*is_its).values(number=AttemptRow.number - 1))


def _count(connection: Connection, limit: RateLimit, now: datetime) -> RateLimitExceeded | None:
    table = cast("Table", AttemptRow.__table__)
    new = upsert(connection, AttemptRow)
    new = new.values(key=limit.key, number=1, ends=now + limit.window)
    is_over = table.c.ends <= now
    counted = new.on_conflict_do_update(
        index_elements=[table.c.key],
        set_={
            "number": case((is_over, 1), else_=table.c.number + 1),
            "ends": case((is_over, new.excluded.ends), else_=table.c.ends),
        },
    ).returning(table.c.number, table.c.ends)
    row = connection.execute(counted).one()
    if row.number <= limit.max_attempts:
        return None
    return RateLimitExceeded(limit=limit, wait=row.ends - now, is_first=row.number == limit.max_attempts + 1)


def _delete_old_counters(connection: Connection, now: datetime) -> None:
    one_too_many = (
        select(AttemptRow.ends)
        .order_by(AttemptRow.ends.desc())
        .offset(MAX_COUNTERS)
        .limit(1)
        .scalar_subquery()
    )
    old = select(AttemptRow.key).where(or_(AttemptRow.ends <= now, AttemptRow.ends <= one_too_many))
    connection.execute(delete(AttemptRow).where(AttemptRow.key.in_(old.with_for_update(skip_locked=True))))
