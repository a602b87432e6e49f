"""What the arena does, and what it did lately. It costs the same after ten games and after ten million."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, select

from arena.store import games, highlights, running
from arena.store.models import Game, Ladder, MatchKind
from arena.store.reads import Activity, RemarkableGame, RunningMatch

_DAYS: Final = 2


def read(connection: Connection, at: datetime) -> Activity:
    """Return what is being played, how much was lately, and what of it was remarkable."""
    totals = games.totals(connection)
    last_hour, last_day = games_since(connection, (at - timedelta(hours=1), at - timedelta(days=1)))
    return Activity(
        running=_running(connection),
        matches_running=totals.matches_running,
        matches_waiting=totals.matches_waiting,
        games=totals.games,
        games_last_hour=last_hour,
        games_last_day=last_day,
        remarkable=_remarkable(connection),
    )


def _running(connection: Connection) -> tuple[RunningMatch, ...]:
    return tuple(
        RunningMatch(
            match=match.match,
            players=match.players,
            deals=match.deals,
            started=match.started,
            seats=tuple((bot, version) for bot, version in match.seats if version is not None),
        )
        for match in running.listed(connection)
        if match.kind is MatchKind.RATED
    )


def games_since(connection: Connection, moments: Sequence[datetime]) -> tuple[int, ...]:
    """Return how many games ended after each of these moments.

    Games are numbered as they end, but for those that end at nearly the same time. So the first one after a
    moment tells how many there are, without counting them.
    """
    firsts = [
        select(Game.number)
        .where(Game.ended > moment)
        .order_by(Game.ended, Game.number)
        .limit(1)
        .scalar_subquery()
        for moment in moments
    ]
    games, *numbers = connection.execute(select(Ladder.games, *firsts)).one()
    return tuple(0 if first is None else games - first + 1 for first in numbers)


def _remarkable(connection: Connection) -> tuple[RemarkableGame, ...]:
    found = highlights.newest(connection, _DAYS)
    played = games.by_number(connection, {each.game for each in found})
    return tuple(
        RemarkableGame(
            kind=each.kind,
            seat=each.seat,
            other=each.other,
            value=each.value,
            game=played[each.game],
        )
        for each in found
    )
