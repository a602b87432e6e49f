"""What a bot's page tells of the past. Every answer costs the same after ten games and after ten million."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select

from arena.match import GameRecord, decode
from arena.rating import OVERALL, Rating
from arena.rules import Rules
from arena.store import bot_results, ladder, points, queue, seats
from arena.store.bot_models import Bot, BotVersion
from arena.store.bot_results import FoundGames, WantedGames
from arena.store.database import Database
from arena.store.history_models import Meeting
from arena.store.models import Game, GameSeat, Match, MatchSet
from arena.store.models import Rating as RatingRow
from arena.store.played_rules import RULES, rules_of
from arena.store.queue import QueuePlace


@dataclass(frozen=True, slots=True, kw_only=True)
class Opponent:
    """Another bot, and how the games with it ended.

    Attributes:
        bot: Its name.
        version: Number of the version of it that plays, or would.
        rating: Of that version, in all games.
        games: Together, those that count.
        ahead: In so many of them the first bot finished ahead.
        behind: In so many it finished behind.
        tied: In so many they shared a place.
    """

    bot: str
    version: int
    rating: Rating
    games: int
    ahead: int
    behind: int
    tied: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """How a rating stood.

    Attributes:
        games: After so many of the version's games in this list.
        ended: UTC, when the last of them did; None before the first.
        rating: Then.
    """

    games: int
    ended: datetime | None
    rating: Rating


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionCurve:
    """How the rating of a version went.

    Attributes:
        version: Its number.
        created: UTC.
        points: From before its first game to now; evenly thinned, where there were many games.
    """

    version: int
    created: datetime
    points: tuple[CurvePoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedGame:
    """A rated game, as it was recorded.

    Attributes:
        game: Its id.
        number: In the order of rating.
        ended: UTC.
        rules: What was played.
        record: All decisions.
        seat: The bot's.
        version: The bot's.
        places: One a seat.
        taken_over: Whether the stand-in played a seat to the end, one a seat.
    """

    game: str
    number: int
    ended: datetime
    rules: Rules
    record: GameRecord
    seat: int
    version: int
    places: tuple[int, ...]
    taken_over: tuple[bool, ...]


class Histories:
    """What happened to bots, by name; of no bot nothing did."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def opponents(self, bot: str, offset: int = 0, limit: int = 20) -> tuple[Opponent, ...]:
        """Return whom a bot met, most games first, without the first ``offset``, at most so many."""
        with self._database.read() as connection:
            return opponents(connection, bot, offset, limit)

    def curve(self, bot: str, players: int = OVERALL, versions: int = 20) -> tuple[VersionCurve, ...]:
        """Return how the newest versions of a bot, at most so many, were rated in a list, oldest first."""
        with self._database.read() as connection:
            return curve(connection, bot, players, versions)

    def games(self, bot: str, wanted: WantedGames, before: int | None = None, limit: int = 20) -> FoundGames:
        """Return games of a bot as they are wanted, newest first, with a smaller number than ``before``."""
        with self._database.read() as connection:
            return bot_results.find(connection, bot, wanted, before, limit)

    def records(self, bot: str, limit: int, *, faulty: bool = False) -> tuple[RecordedGame, ...]:
        """Return the last games of a bot as they were recorded, or the last in which it had a fault."""
        with self._database.read() as connection:
            return _records(connection, bot, limit, faulty=faulty)

    def queued(self, bot: str) -> QueuePlace:
        """Return how many rated matches wait with a bot in them, and how many come before the first."""
        with self._database.read() as connection:
            return queue.place(connection, bot)


def opponents(connection: Connection, bot: str, offset: int, limit: int) -> tuple[Opponent, ...]:
    """Return whom a bot met, as :meth:`Histories.opponents` does."""
    rows = connection.execute(
        select(Meeting.__table__, Bot.name, Bot.playing, RatingRow.mean, RatingRow.deviation)
        .join(Bot, Bot.id == Meeting.other_id)
        .join(BotVersion, (BotVersion.bot_id == Bot.id) & (BotVersion.number == Bot.playing))
        .join(RatingRow, (RatingRow.version_id == BotVersion.id) & (RatingRow.players == OVERALL))
        .where(Meeting.bot_id == select(Bot.id).where(Bot.name == bot).scalar_subquery())
        .order_by(Meeting.games.desc(), Meeting.other_id)
        .offset(offset)
        .limit(limit)
    )
    return tuple(
        Opponent(
            bot=row.name,
            version=row.playing,
            rating=Rating(row.mean, row.deviation),
            games=row.games,
            ahead=row.ahead,
            behind=row.behind,
            tied=row.tied,
        )
        for row in rows
    )


def curve(connection: Connection, bot: str, players: int, limit: int) -> tuple[VersionCurve, ...]:
    """Return how versions of a bot were rated, as :meth:`Histories.curve` does."""
    versions = connection.execute(
        select(BotVersion.id, BotVersion.number, BotVersion.created)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(Bot.name == bot)
        .order_by(BotVersion.number.desc())
        .limit(limit)
    ).all()
    ids = [version.id for version in versions]
    kept = points.of_versions(connection, ids, players)
    now = ladder.load(connection, ids)
    curves: list[VersionCurve] = []
    for version in reversed(versions):
        its = [
            CurvePoint(games=row.games, ended=row.ended, rating=Rating(row.mean, row.deviation))
            for row in kept.get(version.id, [])
        ]
        entry = now[version.id, players]
        if not its or its[-1].games != entry.games:
            its.append(CurvePoint(games=entry.games, ended=entry.last_played, rating=entry.rating))
        curves.append(VersionCurve(version=version.number, created=version.created, points=tuple(its)))
    return tuple(curves)


def _records(connection: Connection, bot: str, limit: int, *, faulty: bool) -> tuple[RecordedGame, ...]:
    own = {row.game_number: row for row in seats.newest(connection, bot, limit, faulty=faulty)}
    numbers = {
        row.id: row.number
        for row in connection.execute(
            select(BotVersion.id, BotVersion.number).where(
                BotVersion.id.in_({row.version_id for row in own.values()})
            )
        )
    }
    everybody: dict[int, list[Any]] = {}
    for row in connection.execute(
        select(GameSeat.game_number, GameSeat.place, GameSeat.taken_over)
        .where(GameSeat.game_number.in_(list(own)))
        .order_by(GameSeat.game_number, GameSeat.seat)
    ):
        everybody.setdefault(row.game_number, []).append(row)
    found = connection.execute(
        select(
            Game.number,
            Game.id,
            Game.ended,
            Game.record,
            *RULES,
        )
        .join(Match, Match.id == Game.match_id)
        .join(MatchSet, MatchSet.number == Match.set_number)
        .where(Game.number.in_(list(own)), Match.replays)
        .order_by(Game.number.desc())
    ).all()
    return tuple(
        _recorded(row, own[row.number], numbers[own[row.number].version_id], everybody[row.number])
        for row in found
    )


def _recorded(row: Row[*tuple[Any, ...]], own: Row[Any], version: int, everybody: list[Any]) -> RecordedGame:
    return RecordedGame(
        game=row.id,
        number=row.number,
        ended=row.ended,
        rules=rules_of(row),
        record=decode(row.record, GameRecord),
        seat=own.seat,
        version=version,
        places=tuple(seat.place for seat in everybody),
        taken_over=tuple(seat.taken_over for seat in everybody),
    )
