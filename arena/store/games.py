"""What is read about games. Lists cost the same after ten games and after ten million."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, ScalarSelect, func, select, text

from arena.match import SeatReport, decode
from arena.rating import OVERALL
from arena.store import seats
from arena.store.bot_models import Bot, BotVersion
from arena.store.models import (
    OPEN,
    Game,
    GameSeat,
    Ladder,
    Match,
    MatchSeat,
    MatchSet,
    MatchState,
    RatingChange,
    RatingEvent,
)
from arena.store.played_rules import RULES
from arena.store.reads import GamePage, GameSummary, SeatResult, Totals
from arena.store.reads import GameSeat as SeatOfGame
from arena.store.reads import RatingChange as Change

_VARIANTS = ("pass_both_ways", "soy_sauce", "dummy")


def games(
    connection: Connection,
    before: int | None,
    limit: int,
    *,
    bot: str | None = None,
    version: int | None = None,
) -> tuple[GameSummary, ...]:
    """Return games, newest first.

    Args:
        connection: To the store.
        before: Only games with a smaller number; None starts with the newest.
        limit: How many at most.
        bot: Only games of this bot; None for all.
        version: Only games of this version of it; None for all.
    """
    wanted = select(Game.number, Game.id, Game.players, Game.ended).order_by(Game.number.desc()).limit(limit)
    if before is not None:
        wanted = wanted.where(Game.number < before)
    if bot is not None:
        its = seats.newest(connection, bot, limit, version=version, before=before)
        wanted = wanted.where(Game.number.in_([seat.game_number for seat in its]))
    return _summaries(connection, connection.execute(wanted).all())


def by_number(connection: Connection, numbers: Collection[int]) -> dict[int, GameSummary]:
    """Return games by their numbers."""
    wanted = select(Game.number, Game.id, Game.players, Game.ended).where(Game.number.in_(numbers))
    found = _summaries(connection, connection.execute(wanted).all())
    return {game.number: game for game in found}


def _summaries(
    connection: Connection, rows: Sequence[Row[int, str, int, datetime]]
) -> tuple[GameSummary, ...]:
    sat: dict[int, list[SeatResult]] = {}
    for seat in connection.execute(
        select(GameSeat.game_number, Bot.name, BotVersion.number, GameSeat.points, GameSeat.place)
        .join(BotVersion, BotVersion.id == GameSeat.version_id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(GameSeat.game_number.in_([row.number for row in rows]))
        .order_by(GameSeat.game_number, GameSeat.seat)
    ):
        sat.setdefault(seat.game_number, []).append(
            SeatResult(bot=seat.name, version=seat.number, points=seat.points, place=seat.place)
        )
    return tuple(
        GameSummary(
            game=row.id,
            number=row.number,
            players=row.players,
            ended=row.ended,
            seats=tuple(sat[row.number]),
        )
        for row in rows
    )


def first_game(connection: Connection, bot: str, version: int) -> str | None:
    """Return the id of the first rated game of a version, or None where it has played none."""
    return connection.execute(
        select(Game.id)
        .join(GameSeat, GameSeat.game_number == Game.number)
        .join(BotVersion, BotVersion.id == GameSeat.version_id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(Bot.name == bot, BotVersion.number == version)
        .order_by(GameSeat.game_number)
        .limit(1)
    ).scalar_one_or_none()


def game(connection: Connection, id_: str) -> GamePage | None:
    """Return everything public about a game, or None where there is none of that id."""
    row = connection.execute(
        select(
            Game.number,
            Game.match_id,
            Game.ended,
            Game.replay,
            RatingEvent.number.label("event"),
            *RULES,
        )
        .join(Match, Match.id == Game.match_id)
        .join(MatchSet, MatchSet.number == Match.set_number)
        .join(RatingEvent, RatingEvent.game_number == Game.number)
        .where(Game.id == id_)
    ).one_or_none()
    if row is None:
        return None
    its_seats = _game_seats(connection, row)
    return GamePage(
        game=id_,
        match=row.match_id,
        number=row.number,
        players=row.players,
        variants=tuple(name for name in _VARIANTS if getattr(row, name)),
        ended=row.ended,
        counts=all(seat.overall is not None for seat in its_seats),
        seats=its_seats,
        replay=row.replay,
    )


def _game_seats(connection: Connection, game: Row[*tuple[Any, ...]]) -> tuple[SeatOfGame, ...]:
    changes = {
        (row.version_id, row.players): Change(
            mean_before=row.mean_before,
            deviation_before=row.deviation_before,
            mean_after=row.mean_after,
            deviation_after=row.deviation_after,
        )
        for row in connection.execute(
            select(RatingChange.__table__).where(RatingChange.event_number == game.event)
        )
    }
    rows = connection.execute(
        select(GameSeat.__table__, Bot.name, BotVersion.number, Bot.author, MatchSeat.report)
        .join(BotVersion, BotVersion.id == GameSeat.version_id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .join(MatchSeat, (MatchSeat.match_id == game.match_id) & (MatchSeat.seat == GameSeat.seat))
        .where(GameSeat.game_number == game.number)
        .order_by(GameSeat.seat)
    )
    return tuple(
        _game_seat(row, changes.get((row.version_id, OVERALL)), changes.get((row.version_id, game.players)))
        for row in rows
    )


def _game_seat(row: Row[Any], overall: Change | None, by_count: Change | None) -> SeatOfGame:
    report = decode(row.report, SeatReport)
    return SeatOfGame(
        seat=row.seat,
        bot=row.name,
        version=row.number,
        author=row.author,
        points=row.points,
        puddings=row.puddings,
        place=row.place,
        faults=row.faults,
        taken_over=row.taken_over,
        overall=overall,
        by_count=by_count,
        image=report.image,
        runtime=report.runtime,
        limits=report.limits,
        trouble=report.trouble,
    )


def totals(connection: Connection) -> Totals:
    """Return how much there is."""

    def matches(state: MatchState) -> ScalarSelect[int]:
        return (
            select(func.count()).select_from(Match).where(text(OPEN), Match.state == state).scalar_subquery()
        )

    bots = select(func.count()).select_from(Bot).scalar_subquery()
    row = connection.execute(
        select(bots, Ladder.games, matches(MatchState.WAITING), matches(MatchState.RUNNING))
    ).one()
    return Totals(bots=row[0], games=row[1], matches_waiting=row[2], matches_running=row[3])
