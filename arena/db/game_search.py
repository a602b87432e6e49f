"""Searches rated games by players and results.

A search covers at most ``WINDOW`` games, so that its cost doesn't grow with the ladder. The next search
covers the games before them.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, case, exists, func, or_, select, true

from arena.db.schema import BotRow, BotVersionRow, GameRow, GameSeatRow, HighlightRow, LadderRow
from arena.ladder.highlights import HighlightKind
from arena.protocol.states import BotState

WINDOW: Final = 20_000
"""Maximum number of games to search. A search that finds nothing takes about 0.1 s."""

DAY_WINDOW: Final = 1_000
"""Number of games in which the front page looks for the closest one, in a few milliseconds."""


class GameOrder(StrEnum):
    """The order of games."""

    NEWEST = "newest"
    CLOSEST = "closest"
    """By the points between first and second place, the fewest first."""
    WIDEST = "widest"
    """By the points between first and second place, the most first."""
    HIGHEST = "highest"
    """By the most points scored by a seat."""
    COMEBACK = "comeback"
    """By the points by which the winner trailed after two rounds; only games that a trailing player won.

    Seats that the stand-in took over don't count: they come last whatever their points.
    """
    UPSET = "upset"
    """By the probability that the result had before the game; only upsets among each day's highlights."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameFilter:
    """The games to find; None means any."""

    bot: str | None = None
    author: str | None = None  # case-insensitive
    players: int | None = None
    points: int | None = None  # at least this many for a seat
    margin: int | None = None  # at most this many points between first and second place
    faults: bool | None = None  # whether any seat had a fault
    since: date | None = None  # first day of the end, UTC
    until: date | None = None  # last day of the end, UTC


def numbers_to_search(connection: Connection, wanted: GameFilter, before: int | None) -> tuple[range, bool]:
    """Return the numbers of the games to search, and whether older games may match as well.

    They are the newest ``WINDOW`` numbers that are smaller than ``before`` and within the days of the filter.
    """
    end: int = connection.execute(select(LadderRow.games)).scalar_one() + 1
    if before is not None:
        end = min(end, before)
    # Games are numbered in the order of their ends, except where the clock was set back.
    if wanted.until is not None and wanted.until < date.max:
        end = min(end, _first_since(connection, _midnight(wanted.until + timedelta(days=1))) or end)
    first = 1 if wanted.since is None else _first_since(connection, _midnight(wanted.since)) or end
    start = max(first, end - WINDOW)
    return range(start, end), start > first


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _first_since(connection: Connection, moment: datetime) -> int | None:
    """Return the number of the first game that ended at a time or later, or None."""
    found = select(GameRow.number).where(GameRow.ended >= moment)
    return connection.execute(found.order_by(GameRow.ended, GameRow.number).limit(1)).scalar_one_or_none()


def numbers_of(
    connection: Connection, wanted: GameFilter, order: GameOrder, searched: range, limit: int
) -> tuple[int, ...]:
    """Return at most ``limit`` of the searched numbers whose games match, in order."""
    within = GameRow.number >= searched.start, GameRow.number < searched.stop
    found = select(GameRow.number).where(*within, *_conditions(connection, wanted))
    if order in {GameOrder.CLOSEST, GameOrder.WIDEST}:
        margin = _margin()
        by = margin if order is GameOrder.CLOSEST else margin.desc()
        found = found.where(margin.is_not(None)).order_by(by)
    elif order is GameOrder.HIGHEST:
        found = found.order_by(_best().desc())
    elif order is GameOrder.COMEBACK:
        found = found.where(_behind() > 0).order_by(_behind().desc())
    elif order is GameOrder.UPSET:
        upsets = select(HighlightRow.game_number).where(HighlightRow.kind == HighlightKind.UPSET)
        found = found.where(GameRow.number.in_(upsets)).order_by(_chance())
    return tuple(connection.execute(found.order_by(GameRow.number.desc()).limit(limit)).scalars())


def closest_since(connection: Connection, moment: datetime) -> int | None:
    """Return the number of the closest game that ended after a time; among equally close ones, the newest.

    Only the newest ``DAY_WINDOW`` games are searched. Games with a disqualified bot don't count.
    """
    newest = select(LadderRow.games - DAY_WINDOW).scalar_subquery()
    unfair = _played_by(connection, BotRow.state == BotState.DISQUALIFIED)
    found = select(GameRow.number).where(GameRow.number > newest, GameRow.ended > moment, ~unfair)
    found = found.where(_margin().is_not(None)).order_by(_margin(), GameRow.number.desc())
    return connection.execute(found.limit(1)).scalar_one_or_none()


def upset_chances(connection: Connection, numbers: Collection[int]) -> dict[int, float]:
    """Return the chance of the unlikeliest stored upset in each of these games that has one."""
    upsets = HighlightRow.kind == HighlightKind.UPSET, HighlightRow.game_number.in_(numbers)
    rows = select(HighlightRow.game_number, func.min(HighlightRow.value).label("chance")).where(*upsets)
    found = connection.execute(rows.group_by(HighlightRow.game_number))
    return {row.game_number: row.chance for row in found}


def _conditions(connection: Connection, wanted: GameFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.bot is not None:
        conditions.append(_played_by(connection, BotRow.name == wanted.bot))
    if wanted.author is not None:
        same = or_(BotRow.author == wanted.author, func.lower(BotRow.author) == wanted.author.lower())
        conditions.append(_played_by(connection, same))
    if wanted.players is not None:
        conditions.append(GameRow.players == wanted.players)
    if wanted.points is not None:
        conditions.append(_best() >= wanted.points)
    if wanted.margin is not None:
        conditions.append(_margin() <= wanted.margin)
    if wanted.faults is not None:
        faulty = (
            exists().where(_here(), or_(GameSeatRow.faults > 0, GameSeatRow.taken_over)).correlate(GameRow)
        )
        conditions.append(faulty if wanted.faults else ~faulty)
    if wanted.since is not None:
        conditions.append(GameRow.ended >= _midnight(wanted.since))
    if wanted.until is not None and wanted.until < date.max:
        conditions.append(GameRow.ended < _midnight(wanted.until + timedelta(days=1)))
    return conditions


def _played_by(connection: Connection, bots: ColumnElement[bool]) -> ColumnElement[bool]:
    versions = select(BotVersionRow.id).join(BotRow, BotRow.id == BotVersionRow.bot_id).where(bots)
    ids = connection.execute(versions).scalars().all()
    return exists().where(_here(), GameSeatRow.version_id.in_(ids)).correlate(GameRow)


def _here() -> ColumnElement[bool]:
    return GameSeatRow.game_number == GameRow.number


def _best() -> ColumnElement[int]:
    return _points(func.max(GameSeatRow.points), true())


def _margin() -> ColumnElement[int]:
    """Return the points between first and second place; NULL if no two seats were played to the end."""
    played = ~GameSeatRow.taken_over
    first, second = (GameSeatRow.place == 1) & played, (GameSeatRow.place > 1) & played
    most = func.max(GameSeatRow.points)
    return case((_points(func.count(), first) > 1, 0), else_=_points(most, first) - _points(most, second))


def _behind() -> ColumnElement[int]:
    """Return the points by which the winner trailed after two rounds; NULL for old games."""
    after_two: ColumnElement[Any] = GameSeatRow.after_two.expression
    best = _points(func.max(after_two), ~GameSeatRow.taken_over)
    return best - _points(func.min(after_two), GameSeatRow.place == 1)


def _chance() -> ColumnElement[float]:
    """Return the probability of a game's upset; NULL without an upset."""
    upset = HighlightRow.kind == HighlightKind.UPSET, HighlightRow.game_number == GameRow.number
    return select(func.min(HighlightRow.value)).where(*upset).correlate(GameRow).scalar_subquery()


def _points(what: ColumnElement[int], seats: ColumnElement[bool]) -> ColumnElement[int]:
    return select(what).select_from(GameSeatRow).where(_here(), seats).correlate(GameRow).scalar_subquery()
