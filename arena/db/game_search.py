"""Searches rated games by players and results.

A search covers at most ``WINDOW`` games, so that its cost doesn't grow with the ladder. The next search
covers the games before those. All pages of a sorted list rank the games of the same search.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, and_, case, exists, func, or_, select

from arena.db.schema import Base, BotRow, BotVersionRow, GameRow, GameSeatRow, HighlightRow, LadderRow
from arena.ladder.highlights import HighlightKind
from arena.protocol.states import BotState

WINDOW: Final = 20_000
"""Maximum number of games to search. A search that finds nothing takes about 0.1 s."""

DAY_WINDOW: Final = 1_000
"""Number of recent games to search for the closest one. The search takes a few milliseconds."""


class GameOrder(StrEnum):
    """A sort order for games."""

    NEWEST = "newest"
    CLOSEST = "closest"
    """By the points between first and second place, smallest margin first."""
    WIDEST = "widest"
    """By the points between first and second place, largest margin first."""
    HIGHEST = "highest"
    """By the points of the highest-scoring seat, most first."""
    COMEBACK = "comeback"
    """By how many points the winner trailed after two rounds, most first.

    Games in which the winner did not trail are left out. Seats that the stand-in took over don't count,
    because they come last whatever their points.
    """
    UPSET = "upset"
    """By the upset's probability before the game, lowest first. Covers only upsets that are highlights."""


@dataclass(frozen=True, slots=True)
class Position:
    """A game's position in an order other than ``NEWEST``: by value, then newest first."""

    value: float
    number: int  # of the game


@dataclass(frozen=True, slots=True, kw_only=True)
class GameFilter:
    """The games to find; None means any."""

    bot: str | None = None
    author: str | None = None  # case-insensitive
    players: int | None = None
    points: int | None = None  # at least this many for some seat
    margin: int | None = None  # at most this many points between first and second place
    faults: bool | None = None  # whether any seat had a fault
    since: date | None = None  # only games that ended on this day (UTC) or later
    until: date | None = None  # only games that ended on this day (UTC) or earlier


_PLAYED: Final = ~GameSeatRow.taken_over
_FIRST: Final = (GameSeatRow.place == 1) & _PLAYED
_SECOND: Final = (GameSeatRow.place > 1) & _PLAYED
_BEST: Final = func.max(GameSeatRow.points)
MARGIN: Final = case(
    (func.count().filter(_FIRST) > 1, 0),
    else_=func.max(GameSeatRow.points).filter(_FIRST) - func.max(GameSeatRow.points).filter(_SECOND),
)
"""The points between first and second place; NULL if bots finished fewer than two seats."""
LEAD: Final = func.min(GameSeatRow.after_two).filter(GameSeatRow.place == 1) - func.max(
    GameSeatRow.after_two
).filter(_PLAYED)
"""Minus the points by which the winner trailed after two rounds, or 0 if it led; NULL for old games."""

_VALUES: Final = {
    GameOrder.CLOSEST: MARGIN,
    GameOrder.WIDEST: -MARGIN,
    GameOrder.HIGHEST: -_BEST,
    GameOrder.COMEBACK: LEAD,
    GameOrder.UPSET: func.min(HighlightRow.value),
}
"""Sort keys, smallest first: aggregates over a game's seats or, for ``UPSET``, over its highlights."""


def numbers_to_search(connection: Connection, criteria: GameFilter, before: int | None) -> tuple[range, bool]:
    """Return the numbers of the games to search, and whether older games may match too.

    These are the ``WINDOW`` highest numbers below ``before``, counting only games that ended on the
    filter's days.
    """
    end: int = connection.execute(select(LadderRow.games)).scalar_one() + 1
    if before is not None:
        end = min(end, before)
    # Games are numbered in the order in which they ended, unless the clock was set back.
    if criteria.until is not None and criteria.until < date.max:
        end = min(end, _first_since(connection, _midnight(criteria.until + timedelta(days=1))) or end)
    first = 1 if criteria.since is None else _first_since(connection, _midnight(criteria.since)) or end
    start = max(first, end - WINDOW)
    return range(start, end), start > first


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _first_since(connection: Connection, moment: datetime) -> int | None:
    """Return the number of the first game that ended at or after a time, or None."""
    found = select(GameRow.number).where(GameRow.ended >= moment)
    return connection.execute(found.order_by(GameRow.ended, GameRow.number).limit(1)).scalar_one_or_none()


def newest_of(connection: Connection, criteria: GameFilter, searched: range, limit: int) -> tuple[int, ...]:
    """Return the numbers of at most ``limit`` searched games that match, newest first."""
    found = select(GameRow.number).where(*_matching(connection, criteria, searched))
    return tuple(connection.execute(found.order_by(GameRow.number.desc()).limit(limit)).scalars())


def positions_of(  # noqa: PLR0913 - the parts of a search
    connection: Connection,
    criteria: GameFilter,
    order: GameOrder,
    searched: range,
    limit: int,
    *,
    after: Position | None,
) -> tuple[Position, ...]:
    """Return the positions of at most ``limit`` searched games that match and come after ``after``, in order.

    ``order`` must not be ``NEWEST``.
    """
    value = _VALUES[order]
    rows: type[Base] = GameSeatRow
    # PostgreSQL doesn't infer from the join that the seats are in the same range as the games.
    of_game = and_(
        _same_game(), GameSeatRow.game_number >= searched.start, GameSeatRow.game_number < searched.stop
    )
    if order is GameOrder.UPSET:
        rows = HighlightRow
        of_game = and_(HighlightRow.game_number == GameRow.number, HighlightRow.kind == HighlightKind.UPSET)
    ranked = (
        select(GameRow.number, value.label("value"))
        .join(rows, of_game)
        .where(*_matching(connection, criteria, searched))
        .group_by(GameRow.number)
        .having(value < 0 if order is GameOrder.COMEBACK else value.is_not(None))
        .order_by(value, GameRow.number.desc())
        .limit(limit)
    )
    if after is not None:
        older = and_(value == after.value, GameRow.number < after.number)
        ranked = ranked.having(or_(value > after.value, older))
    return tuple(Position(row.value, row.number) for row in connection.execute(ranked))


def closest_since(connection: Connection, moment: datetime) -> int | None:
    """Of the games that ended after a time, return the number of the one with the smallest margin, or None.

    If several games have that margin, return the latest. Only the latest ``DAY_WINDOW`` games are searched.
    Games with a disqualified bot don't count.
    """
    newest = select(LadderRow.games - DAY_WINDOW).scalar_subquery()
    unfair = _played_by(connection, BotRow.state == BotState.DISQUALIFIED)
    found = select(GameRow.number).where(GameRow.number > newest, GameRow.ended > moment, ~unfair)
    margin = of_game(MARGIN)
    found = found.where(margin.is_not(None)).order_by(margin, GameRow.number.desc())
    return connection.execute(found.limit(1)).scalar_one_or_none()


def _matching(connection: Connection, criteria: GameFilter, searched: range) -> list[ColumnElement[bool]]:
    conditions = [GameRow.number >= searched.start, GameRow.number < searched.stop]
    if criteria.bot is not None:
        conditions.append(_played_by(connection, BotRow.name == criteria.bot))
    if criteria.author is not None:
        same = or_(BotRow.author == criteria.author, func.lower(BotRow.author) == criteria.author.lower())
        conditions.append(_played_by(connection, same))
    if criteria.players is not None:
        conditions.append(GameRow.players == criteria.players)
    if criteria.points is not None:
        conditions.append(of_game(_BEST) >= criteria.points)
    if criteria.margin is not None:
        conditions.append(of_game(MARGIN) <= criteria.margin)
    if criteria.faults is not None:
        faulty = (
            exists()
            .where(_same_game(), or_(GameSeatRow.faults > 0, GameSeatRow.taken_over))
            .correlate(GameRow)
        )
        conditions.append(faulty if criteria.faults else ~faulty)
    if criteria.since is not None:
        conditions.append(GameRow.ended >= _midnight(criteria.since))
    if criteria.until is not None and criteria.until < date.max:
        conditions.append(GameRow.ended < _midnight(criteria.until + timedelta(days=1)))
    return conditions


def _played_by(connection: Connection, bots: ColumnElement[bool]) -> ColumnElement[bool]:
    versions = select(BotVersionRow.id).join(BotRow, BotRow.id == BotVersionRow.bot_id).where(bots)
    ids = connection.execute(versions).scalars().all()
    return exists().where(_same_game(), GameSeatRow.version_id.in_(ids)).correlate(GameRow)


def _same_game() -> ColumnElement[bool]:
    return GameSeatRow.game_number == GameRow.number


def of_game(value: ColumnElement[Any]) -> ColumnElement[int]:
    """Return an aggregate of a game's seats, such as ``MARGIN``."""
    return select(value).where(_same_game()).correlate(GameRow).scalar_subquery()
