"""Lists of rated games, and single games. The cost of a list doesn't grow with the number of games."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, func, select, text

from arena.db.database import Repository, from_row, grouped
from arena.db.game_search import (
    LEAD,
    MARGIN,
    GameFilter,
    GameOrder,
    Position,
    closest_since,
    newest_of,
    numbers_to_search,
    of_game,
    positions_of,
)
from arena.db.schema import (
    FAULTY,
    BotRow,
    BotVersionRow,
    GameRow,
    GameSeatRow,
    MatchRow,
    MatchSeatRow,
    RatingChangeRow,
    RatingEventRow,
)
from arena.ladder.rating_events import OVERALL
from arena.protocol.games import GameLine, SeatResult
from arena.protocol.match import SeatReport, decode, image_name, public_trouble
from arena.rules import Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingChange:
    """A rating before and after one game.

    Attributes:
        mean_before: μ before the game.
        deviation_before: σ before the game.
        mean_after: μ after the game.
        deviation_after: σ after the game.
    """

    mean_before: float
    deviation_before: float
    mean_after: float
    deviation_after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSeat:
    """One seat of a game.

    Attributes:
        seat: Seat number, from 0.
        bot: The bot's name.
        version: Version number, from 1.
        author: The author's name.
        points: Final points.
        puddings: Puddings at the end.
        place: Place, from 1. Seats that the stand-in took over come last.
        faults: Number of faults.
        taken_over: Whether the stand-in played the seat to the end.
        overall: The change in the overall rating; None if the game doesn't count towards ratings.
        by_count: The change in the rating for this number of players; None as above.
        image: Id of the image, or the name of the bot's folder.
        runtime: The sandbox's runtime, such as `docker/runc`.
        limits: The sandbox's limits, as text.
        trouble: Description of a sandbox error, or None.
    """

    seat: int
    bot: str
    version: int
    author: str
    points: int
    puddings: int
    place: int
    faults: int
    taken_over: bool
    overall: RatingChange | None
    by_count: RatingChange | None
    image: str
    runtime: str
    limits: tuple[str, ...]
    trouble: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSummary(GameLine):
    """An entry in a list of games, with data that only pages show."""

    # Points between first and second place; None if bots finished fewer than two seats.
    margin: int | None
    behind: int | None  # points by which the winner trailed after two rounds; None if unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedGames:
    """The result of a search."""

    games: tuple[GameSummary, ...]
    positions: tuple[Position, ...]  # of the games; empty if they are in the order ``NEWEST``
    searched: range  # numbers of the searched games
    older: bool  # whether older games may match too


@dataclass(frozen=True, slots=True, kw_only=True)
class GamePage:
    """Everything public about one game."""

    game: str
    match: str
    number: int  # its position in the order in which games were rated, from 1
    players: int
    variants: tuple[str, ...]
    ended: datetime
    counts: bool  # whether it counts towards ratings; False if one of its bots is disqualified
    seats: tuple[GameSeat, ...]  # in seat order
    replay: str  # the public replay (`sushigo-replay/1`) as JSON text; empty once it has been removed


RULES: Final = tuple(getattr(MatchRow, field.name) for field in fields(Rules))
"""The columns of a match that contain the fields of :class:`Rules`."""


class GameRepository(Repository):
    """Rated games."""

    def newest(
        self,
        before: int | None = None,
        limit: int = 50,
        *,
        bot: str | None = None,
        version: int | None = None,
    ) -> tuple[GameSummary, ...]:
        """Return at most ``limit`` games with numbers below ``before``, newest first.

        ``bot`` limits the list to that bot's games, and ``version`` to those of one of its versions.
        """
        with self._transactions.read() as connection:
            query = _games().order_by(GameRow.number.desc()).limit(limit)
            if before is not None:
                query = query.where(GameRow.number < before)
            if bot is not None:
                seats = seats_of(connection, bot, limit, version=version, before=before)
                query = query.where(GameRow.number.in_([seat.game_number for seat in seats]))
            return _summaries(connection, connection.execute(query).all())

    def search(
        self,
        criteria: GameFilter,
        order: GameOrder,
        before: int | None,
        limit: int,
        after: Position | None = None,
    ) -> SearchedGames:
        """Return at most ``limit`` matching games with numbers below ``before``.

        At most ``WINDOW`` games are searched. In orders other than ``NEWEST``, games up to the position
        ``after`` are skipped.
        """
        with self._transactions.read() as connection:
            searched, older = numbers_to_search(connection, criteria, before)
            positions: tuple[Position, ...] = ()
            if order is GameOrder.NEWEST:
                numbers = newest_of(connection, criteria, searched, limit)
            else:
                positions = positions_of(connection, criteria, order, searched, limit, after=after)
                numbers = tuple(each.number for each in positions)
            found = by_number(connection, numbers)
            return SearchedGames(
                games=tuple(found[number] for number in numbers),
                positions=positions,
                searched=searched,
                older=older,
            )

    def closest_since(self, moment: datetime) -> GameSummary | None:
        """Return the closest game that ended after a time; see :func:`arena.db.game_search.closest_since`."""
        with self._transactions.read() as connection:
            number = closest_since(connection, moment)
            return None if number is None else by_number(connection, [number])[number]

    def first_of(self, bot: str, version: int) -> str | None:
        """Return the id of a version's first rated game; None if it has none."""
        with self._transactions.read() as connection:
            return connection.execute(
                select(GameRow.id)
                .join(GameSeatRow, GameSeatRow.game_number == GameRow.number)
                .join(BotVersionRow, BotVersionRow.id == GameSeatRow.version_id)
                .join(BotRow, BotRow.id == BotVersionRow.bot_id)
                .where(BotRow.name == bot, BotVersionRow.number == version)
                .order_by(GameSeatRow.game_number)
                .limit(1)
            ).scalar_one_or_none()

    def find(self, id_: str) -> GamePage | None:
        """Return everything public about a game, or None if the id is unknown."""
        with self._transactions.read() as connection:
            row = connection.execute(
                select(
                    GameRow.id.label("game"),
                    GameRow.match_id.label("match"),
                    GameRow.number,
                    GameRow.ended,
                    GameRow.replay,
                    RatingEventRow.number.label("event"),
                    *RULES,
                )
                .join(MatchRow, MatchRow.id == GameRow.match_id)
                .join(RatingEventRow, RatingEventRow.game_number == GameRow.number)
                .where(GameRow.id == id_)
            ).one_or_none()
            if row is None:
                return None
            its_seats = _game_seats(connection, row)
            return from_row(
                GamePage,
                row,
                variants=from_row(Rules, row).variants,
                counts=all(seat.overall is not None for seat in its_seats),
                seats=its_seats,
            )


def last_games(version: int, limit: int, *columns: Any) -> Select[*tuple[Any, ...]]:  # noqa: ANN401 - as SQLAlchemy has it
    """Select columns of a version's last games and of its seats in them, newest first.

    The index lets the search end after these games. With an additional condition, the database might search
    all of the version's games.
    """
    return (
        select(*columns)
        .select_from(GameSeatRow)
        .join(GameRow, GameRow.number == GameSeatRow.game_number)
        .where(GameSeatRow.version_id == version)
        .order_by(GameSeatRow.game_number.desc())
        .limit(limit)
    )


def seats_of(  # noqa: PLR0913 - one argument per filter
    connection: Connection,
    bot: str,
    limit: int,
    *,
    version: int | None = None,
    before: int | None = None,
    faulty: bool = False,
) -> list[Row[Any]]:
    """Return at most ``limit`` of a bot's ``game_seat`` rows, with version numbers, newest first.

    Only games with numbers below ``before`` count. ``version`` limits the rows to that version, and
    ``faulty`` limits them to games in which the bot had a fault.
    """
    conditions: list[Any] = []
    if before is not None:
        conditions.append(GameSeatRow.game_number < before)
    if faulty:
        conditions.append(text(f"({FAULTY})"))
    newest = (
        select(func.max(GameSeatRow.game_number))
        .where(GameSeatRow.version_id == BotVersionRow.id, *conditions)
        .scalar_subquery()
    )
    versions = (
        select(BotVersionRow.id, newest.label("newest"))
        .join(BotRow, BotRow.id == BotVersionRow.bot_id)
        .where(BotRow.name == bot)
        .order_by(newest.desc().nulls_last())
        .limit(limit)
    )
    if version is not None:
        versions = versions.where(BotVersionRow.number == version)
    seats = (
        select(GameSeatRow.__table__, BotVersionRow.number.label("version"))
        .join(BotVersionRow, BotVersionRow.id == GameSeatRow.version_id)
        .where(*conditions)
        .order_by(GameSeatRow.game_number.desc())
        .limit(limit)
    )
    found: list[Row[Any]] = []
    for its in connection.execute(versions).all():
        if its.newest is None:
            break
        query = seats.where(GameSeatRow.version_id == its.id)
        if len(found) == limit:  # the list is full, so only newer games can enter it
            if its.newest <= found[-1].game_number:
                break
            query = query.where(GameSeatRow.game_number > found[-1].game_number)
        found = sorted([*found, *connection.execute(query)], key=lambda row: row.game_number, reverse=True)[
            :limit
        ]
    return found


def by_number(connection: Connection, numbers: Collection[int]) -> dict[int, GameSummary]:
    """Return games, keyed by number."""
    found = _summaries(connection, connection.execute(_games().where(GameRow.number.in_(numbers))).all())
    return {game.number: game for game in found}


def _games() -> Select[*tuple[Any, ...]]:
    return select(GameRow.number, GameRow.id.label("game"), GameRow.players, GameRow.ended).add_columns(
        of_game(MARGIN).label("margin"), of_game(-LEAD).label("behind")
    )


def _summaries(connection: Connection, rows: Sequence[Row[*tuple[Any, ...]]]) -> tuple[GameSummary, ...]:
    seats = connection.execute(
        select(
            GameSeatRow.game_number,
            BotRow.name.label("bot"),
            BotVersionRow.number.label("version"),
            GameSeatRow.points,
            GameSeatRow.place,
        )
        .join(BotVersionRow, BotVersionRow.id == GameSeatRow.version_id)
        .join(BotRow, BotRow.id == BotVersionRow.bot_id)
        .where(GameSeatRow.game_number.in_([row.number for row in rows]))
        .order_by(GameSeatRow.game_number, GameSeatRow.seat)
    )
    sat = grouped(seats, "game_number")
    return tuple(
        from_row(GameSummary, row, seats=tuple(from_row(SeatResult, seat) for seat in sat[row.number]))
        for row in rows
    )


def _game_seats(connection: Connection, game: Row[*tuple[Any, ...]]) -> tuple[GameSeat, ...]:
    changes = {
        (row.version_id, row.players): from_row(RatingChange, row)
        for row in connection.execute(
            select(RatingChangeRow.__table__).where(RatingChangeRow.event_number == game.event)
        )
    }
    rows = connection.execute(
        select(GameSeatRow.__table__, BotRow.name.label("bot"), BotVersionRow.number.label("version"))
        .add_columns(BotRow.author, MatchSeatRow.report)
        .join(BotVersionRow, BotVersionRow.id == GameSeatRow.version_id)
        .join(BotRow, BotRow.id == BotVersionRow.bot_id)
        .join(
            MatchSeatRow,
            (MatchSeatRow.match_id == game.match) & (MatchSeatRow.version_id == GameSeatRow.version_id),
        )
        .where(GameSeatRow.game_number == game.number)
        .order_by(GameSeatRow.seat)
    )
    return tuple(
        _game_seat(row, changes.get((row.version_id, OVERALL)), changes.get((row.version_id, game.players)))
        for row in rows
    )


def _game_seat(row: Row[Any], overall: RatingChange | None, by_count: RatingChange | None) -> GameSeat:
    report = decode(row.report, SeatReport)
    return from_row(
        GameSeat,
        row,
        overall=overall,
        by_count=by_count,
        image=image_name(report.image),
        runtime=report.runtime,
        limits=report.limits,
        trouble=public_trouble(report),
    )
