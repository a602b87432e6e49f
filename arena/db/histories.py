"""A bot's history, for its page. The cost of a query doesn't grow with the number of games."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Row, select
from sqlalchemy.orm import aliased

from arena.db import games, ladder
from arena.db.database import Repository, from_row, grouped
from arena.db.games import RULES, GameSummary
from arena.db.schema import (
    PLAYS,
    BotRow,
    BotVersionRow,
    GameRow,
    GameSeatRow,
    MatchRow,
    MeetingRow,
    RatingPointRow,
    RatingRow,
)
from arena.ladder.rating import Rating
from arena.ladder.rating_events import OVERALL
from arena.protocol.match import GameRecord, decode
from arena.rules import Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Opponent:
    """A bot's record against another bot."""

    bot: str  # the opponent's name
    version: int  # number of the opponent's active version
    rating: Rating  # that version's rating in the requested list
    games: int  # number of rated games with both
    ahead: int  # in how many of them the bot finished ahead of the opponent
    behind: int
    tied: int


class Meeting(NamedTuple):
    """A bot's record against another: the games with both, and those in which it finished ahead or tied."""

    games: int
    ahead: int
    tied: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingPoint:
    """A rating at a point in time.

    Attributes:
        games: Number of the version's games so far that count for this rating.
        ended: End of the last of these games; null before the first.
        mean: μ.
        deviation: σ.
    """

    games: int
    ended: datetime | None
    mean: float
    deviation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingCurve:
    """A version's rating history.

    Attributes:
        version: The version's number.
        created: When the version joined the ladder.
        points: The first point is the rating before the first game, and the last one is the current rating.
            There are at most 129 points, evenly spaced if there were more games.
    """

    version: int
    created: datetime
    points: tuple[RatingPoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedGame:
    """A recorded rated game, from one bot's point of view."""

    game: str  # its id
    number: int  # its position in the order in which games were rated
    ended: datetime  # UTC
    rules: Rules
    record: GameRecord
    seat: int  # the bot's seat
    version: int  # the bot's version number
    places: tuple[int, ...]  # per seat
    taken_over: tuple[bool, ...]  # per seat, whether the stand-in finished the game


@dataclass(frozen=True, slots=True, kw_only=True)
class BotGameFilter:
    """A filter for a bot's games; None matches any."""

    version: int | None = None  # the bot's version number
    opponent: str | None = None  # name of another bot in the game
    players: int | None = None
    place: int | None = None  # the bot's place
    low: int | None = None  # the bot's minimum points
    high: int | None = None  # the bot's maximum points
    faulty: bool | None = None  # whether the bot had a fault

    @property
    def all(self) -> bool:
        """True if the filter sets nothing except the version."""
        return self == BotGameFilter(version=self.version)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundGames:
    """A page of games."""

    games: tuple[GameSummary, ...]  # newest first
    older: int | None  # the next page has games with numbers below this; None on the last page
    # Number of games searched if the search stopped before the page was full; otherwise None.
    searched: int | None


MAX_SEARCHED: Final = 2000
"""Maximum number of games to search for one page."""

_BATCH: Final = 200


class Histories(Repository):
    """Bots' histories, by name. An unknown bot has an empty history."""

    def opponents(
        self, bot: str, offset: int = 0, limit: int = 20, players: int = OVERALL
    ) -> tuple[Opponent, ...]:
        """Return a page of a bot's opponents, with ratings from one list.

        The most frequent opponents come first. This order counts games with any number of players.
        """
        with self._transactions.read() as connection:
            rows = connection.execute(
                select(MeetingRow.__table__, BotRow.name.label("bot"), BotRow.playing.label("version"))
                .add_columns(RatingRow.mean, RatingRow.deviation)
                .join(BotRow, BotRow.id == MeetingRow.other_id)
                .join(BotVersionRow, PLAYS)
                .join(RatingRow, (RatingRow.version_id == BotVersionRow.id) & (RatingRow.players == players))
                .where(MeetingRow.bot_id == select(BotRow.id).where(BotRow.name == bot).scalar_subquery())
                .order_by(MeetingRow.games.desc(), MeetingRow.other_id)
                .offset(offset)
                .limit(limit)
            )
            return tuple(from_row(Opponent, row, rating=Rating(row.mean, row.deviation)) for row in rows)

    def meetings(self, bots: Sequence[str]) -> dict[tuple[str, str], Meeting]:
        """Return the records of these bots against each other, by name. Pairs that never met are left out."""
        own, other = aliased(BotRow), aliased(BotRow)
        query = (
            select(own.name, other.name, MeetingRow.games, MeetingRow.ahead, MeetingRow.tied)
            .select_from(MeetingRow)
            .join(own, own.id == MeetingRow.bot_id)
            .join(other, other.id == MeetingRow.other_id)
            .where(own.name.in_(bots), other.name.in_(bots))
        )
        with self._transactions.read() as connection:
            rows = connection.execute(query).all()
        return {(row[0], row[1]): Meeting(games=row[2], ahead=row[3], tied=row[4]) for row in rows}

    def curve(self, bot: str, players: int = OVERALL, versions: int = 20) -> tuple[RatingCurve, ...]:
        """Return the rating curves of a bot's newest versions in one list, oldest version first."""
        with self._transactions.read() as connection:
            newest = connection.execute(
                select(BotVersionRow.id, BotVersionRow.number, BotVersionRow.created)
                .join(BotRow, BotRow.id == BotVersionRow.bot_id)
                .where(BotRow.name == bot)
                .order_by(BotVersionRow.number.desc())
                .limit(versions)
            ).all()
            ids = [version.id for version in newest]
            rows = connection.execute(
                select(RatingPointRow.__table__)
                .where(RatingPointRow.version_id.in_(ids), RatingPointRow.players == players)
                .order_by(RatingPointRow.version_id, RatingPointRow.games)
            )
            kept = grouped(rows, "version_id")
            now = ladder.load(connection, ids)
            curves: list[RatingCurve] = []
            for version in reversed(newest):
                points = [from_row(RatingPoint, row) for row in kept.get(version.id, [])]
                entry = now[version.id, players]
                if not points or points[-1].games != entry.games:
                    rating = asdict(entry.rating)
                    points.append(RatingPoint(games=entry.games, ended=entry.last_played, **rating))
                curves.append(
                    RatingCurve(version=version.number, created=version.created, points=tuple(points))
                )
            return tuple(curves)

    def games(
        self, bot: str, criteria: BotGameFilter, before: int | None = None, limit: int = 20
    ) -> FoundGames:
        """Return a page of a bot's games with numbers below ``before``, newest first."""
        with self._transactions.read() as connection:
            max_rows = limit + 1 if criteria.all else MAX_SEARCHED
            rows = games.seats_of(
                connection,
                bot,
                max_rows,
                version=criteria.version,
                before=before,
                faulty=criteria.faulty is True,
            )
            own = [row for row in rows if _matches(row, criteria)]
            numbers = list(islice(_matching_numbers(connection, own, criteria), limit + 1))
            shown = numbers[:limit]
            summaries = games.by_number(connection, shown)
            full = len(numbers) <= limit and len(rows) == max_rows
            older = rows[-1].game_number if full else None
            return FoundGames(
                games=tuple(summaries[number] for number in shown),
                older=shown[-1] if len(numbers) > limit else older,
                searched=len(rows) if full else None,
            )

    def records(self, bot: str, limit: int, *, faulty: bool = False) -> tuple[RecordedGame, ...]:
        """Return the records of a bot's last ``limit`` games, except records that have been removed.

        With ``faulty``, only games in which the bot had a fault count.
        """
        with self._transactions.read() as connection:
            own = {row.game_number: row for row in games.seats_of(connection, bot, limit, faulty=faulty)}
            seats = connection.execute(
                select(GameSeatRow.game_number, GameSeatRow.place, GameSeatRow.taken_over)
                .where(GameSeatRow.game_number.in_(list(own)))
                .order_by(GameSeatRow.game_number, GameSeatRow.seat)
            )
            all_seats = grouped(seats, "game_number")
            found = connection.execute(
                select(GameRow.number, GameRow.id.label("game"), GameRow.ended, GameRow.record, *RULES)
                .join(MatchRow, MatchRow.id == GameRow.match_id)
                .where(GameRow.number.in_(list(own)), MatchRow.replays)
                .order_by(GameRow.number.desc())
            ).all()
            return tuple(
                from_row(
                    RecordedGame,
                    row,
                    rules=from_row(Rules, row),
                    record=decode(row.record, GameRecord),
                    seat=own[row.number].seat,
                    version=own[row.number].version,
                    places=tuple(seat.place for seat in all_seats[row.number]),
                    taken_over=tuple(seat.taken_over for seat in all_seats[row.number]),
                )
                for row in found
            )


def _matches(row: Row[Any], criteria: BotGameFilter) -> bool:
    """Return True if the bot's own seat matches the filter."""
    return (
        criteria.place in {None, row.place}
        and (criteria.low is None or row.points >= criteria.low)
        and (criteria.high is None or row.points <= criteria.high)
        and criteria.faulty in {None, ladder.is_faulty(row.faults, taken_over=row.taken_over)}
    )


def _matching_numbers(
    connection: Connection, rows: Sequence[Row[Any]], criteria: BotGameFilter
) -> Iterator[int]:
    """Yield the numbers of the games that also match the filter's ``players`` and ``opponent``."""
    for first in range(0, len(rows), _BATCH):
        numbers = [row.game_number for row in rows[first : first + _BATCH]]
        if criteria.players is not None or criteria.opponent is not None:
            fitting = frozenset(connection.execute(_matching_games(numbers, criteria)).scalars())
            numbers = [number for number in numbers if number in fitting]
        yield from numbers


def _matching_games(numbers: Sequence[int], criteria: BotGameFilter) -> Any:  # noqa: ANN401 - a statement
    found = select(GameRow.number).where(GameRow.number.in_(numbers))
    if criteria.players is not None:
        found = found.where(GameRow.players == criteria.players)
    if criteria.opponent is not None:
        found = (
            found.join(GameSeatRow, GameSeatRow.game_number == GameRow.number)
            .join(BotVersionRow, BotVersionRow.id == GameSeatRow.version_id)
            .join(BotRow, BotRow.id == BotVersionRow.bot_id)
            .where(BotRow.name == criteria.opponent)
        )
    return found
