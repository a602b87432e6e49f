"""What the arena does, and what it did lately. It costs the same after ten games and after ten million."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, select, text

from arena.store import games, highlights
from arena.store.bot_models import Bot, BotVersion
from arena.store.models import OPEN, Game, Ladder, Match, MatchKind, MatchSeat, MatchSet, MatchState
from arena.store.reads import Activity, RemarkableGame, RunningMatch

_DAYS: Final = 2


def read(connection: Connection, at: datetime) -> Activity:
    """Return what is being played, how much was lately, and what of it was remarkable."""
    totals = games.totals(connection)
    return Activity(
        running=_running(connection),
        matches_running=totals.matches_running,
        matches_waiting=totals.matches_waiting,
        games=totals.games,
        games_last_hour=_games_since(connection, at - timedelta(hours=1)),
        games_last_day=_games_since(connection, at - timedelta(days=1)),
        remarkable=_remarkable(connection),
    )


def _running(connection: Connection) -> tuple[RunningMatch, ...]:
    matches = connection.execute(
        select(Match.id, Match.started, MatchSet.players, MatchSet.deals)
        .join(MatchSet, MatchSet.number == Match.set_number)
        .where(text(OPEN), Match.state == MatchState.RUNNING, Match.kind == MatchKind.RATED)
        .order_by(Match.started, Match.id)
    ).all()
    seats: dict[str, list[tuple[str, int]]] = {match.id: [] for match in matches}
    for seat in connection.execute(
        select(MatchSeat.match_id, Bot.name, BotVersion.number)
        .join(BotVersion, BotVersion.id == MatchSeat.version_id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(MatchSeat.match_id.in_(seats))
        .order_by(MatchSeat.match_id, MatchSeat.seat)
    ):
        seats[seat.match_id].append((seat.name, seat.number))
    return tuple(
        RunningMatch(
            players=match.players, deals=match.deals, started=match.started, seats=tuple(seats[match.id])
        )
        for match in matches
    )


def _games_since(connection: Connection, moment: datetime) -> int:
    """Return how many games ended after a moment.

    Games are numbered as they end, but for those that end at nearly the same time. So the first one after the
    moment tells how many there are, without counting them.
    """
    first = (
        select(Game.number).where(Game.ended > moment).order_by(Game.ended, Game.number).limit(1)
    ).scalar_subquery()
    row = connection.execute(select(Ladder.games, first.label("first"))).one()
    return 0 if row.first is None else row.games - row.first + 1


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
