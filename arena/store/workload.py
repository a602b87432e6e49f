"""What the arena has to do, does, and did in the last hours. It costs the same after any number of games."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, func, select, text

from arena.store import ladder_settings, queue, running
from arena.store.activity import games_since
from arena.store.models import OPEN, Game, Ladder, Match, MatchKind, MatchState
from arena.store.running import OpenMatch

_HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class HourOfGames:
    """How many rated games ended in an hour of the clock; right but for a match or two at its edges."""

    begins: datetime
    games: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What the arena has to do, does and did.

    Attributes:
        paused: Whether no new sets are drawn.
        waiting: How many matches wait, of each kind.
        running: Those that are being played, the one that began first first.
        quarantined: How many were put aside.
        hours: The last ones; at the end the one that has begun.
        last_game: When the newest rated game ended, UTC; None without one.
    """

    paused: bool
    waiting: Mapping[MatchKind, int]
    running: tuple[OpenMatch, ...]
    quarantined: int
    hours: tuple[HourOfGames, ...]
    last_game: datetime | None


def read(connection: Connection, at: datetime, hours: int) -> Workload:
    """Return what there is to do, and what was done in so many hours."""
    return Workload(
        paused=ladder_settings.find(connection).paused,
        waiting=_waiting(connection),
        running=running.listed(connection),
        quarantined=queue.quarantined(connection),
        hours=_hours(connection, at, hours),
        last_game=_last_game(connection),
    )


def _waiting(connection: Connection) -> dict[MatchKind, int]:
    rows = connection.execute(
        select(Match.kind, func.count().label("many"))
        .where(text(OPEN), Match.state == MatchState.WAITING)
        .group_by(Match.kind)
    )
    found = {MatchKind(row.kind): row.many for row in rows}
    return {kind: found.get(kind, 0) for kind in MatchKind}


def _hours(connection: Connection, at: datetime, count: int) -> tuple[HourOfGames, ...]:
    begun = at.replace(minute=0, second=0, microsecond=0)
    begins = [begun - back * _HOUR for back in reversed(range(count))]
    since = (*games_since(connection, begins), 0)
    return tuple(
        HourOfGames(begins=begin, games=since[place] - since[place + 1]) for place, begin in enumerate(begins)
    )


def _last_game(connection: Connection) -> datetime | None:
    newest = select(Game.ended).join(Ladder, Ladder.games == Game.number)
    return connection.execute(newest).scalar_one_or_none()
