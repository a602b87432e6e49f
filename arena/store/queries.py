"""What is read: each query gives frozen read models, and costs the same after ten games and ten million."""

from bisect import bisect_left
from typing import Any

from sqlalchemy import Connection, Row, ScalarSelect, func, select, text

from arena.match import SeatReport, decode
from arena.matchmaking import PLAYER_COUNTS, Candidate
from arena.rating import OVERALL, Entry, conservative
from arena.store import ladder
from arena.store.models import (
    OPEN,
    Bot,
    BotVersion,
    Game,
    GameSeat,
    Ladder,
    Match,
    MatchSeat,
    MatchSet,
    MatchState,
    Rating,
    RatingChange,
    RatingEvent,
)
from arena.store.reads import (
    GamePage,
    GameSummary,
    Standing,
    Totals,
)
from arena.store.reads import (
    GameSeat as SeatOfGame,
)
from arena.store.reads import (
    RatingChange as Change,
)

_VARIANTS = ("pass_both_ways", "soy_sauce", "dummy")


def leaderboard(connection: Connection, players: int = OVERALL) -> tuple[Standing, ...]:
    """Return the newest version of every bot, best first; equal scores share a rank.

    Versions without a game in this list come last.

    Args:
        connection: To the store.
        players: 0 is the overall list, 2 to 5 those of a number of players.
    """
    rows = connection.execute(
        select(Bot.name, Bot.author, BotVersion.number, Rating.__table__)
        .join(BotVersion, (BotVersion.bot_id == Bot.id) & (BotVersion.number == Bot.newest))
        .join(Rating, Rating.version_id == BotVersion.id)
        .where(Rating.players == players)
    )
    entries = [(row, ladder.entry(row._asdict())) for row in rows]
    keys = [(entry.games == 0, -conservative(entry.rating)) for _, entry in entries]
    order = sorted(range(len(entries)), key=lambda index: (keys[index], entries[index][0].name))
    ranks = sorted(keys)
    return tuple(_standing(bisect_left(ranks, keys[index]) + 1, *entries[index]) for index in order)


def _standing(rank: int, row: Row[Any], entry: Entry) -> Standing:
    return Standing(
        rank=rank,
        bot=row.name,
        version=row.number,
        author=row.author,
        mean=entry.rating.mean,
        deviation=entry.rating.deviation,
        score=conservative(entry.rating),
        games=entry.games,
        wins=entry.wins,
        mean_place=entry.place_sum / entry.games if entry.games else None,
        faulty=entry.faulty,
        last_played=entry.last_played,
    )


def games(connection: Connection, before: int | None, limit: int) -> tuple[GameSummary, ...]:
    """Return games, newest first.

    Args:
        connection: To the store.
        before: Only games with a smaller number; None starts with the newest.
        limit: How many at most.
    """
    wanted = select(Game.number, Game.id, Game.players, Game.ended).order_by(Game.number.desc()).limit(limit)
    if before is not None:
        wanted = wanted.where(Game.number < before)
    rows = connection.execute(wanted).all()
    seats: dict[int, list[tuple[str, int, int, int]]] = {}
    for seat in connection.execute(
        select(GameSeat.game_number, Bot.name, BotVersion.number, GameSeat.points, GameSeat.place)
        .join(BotVersion, BotVersion.id == GameSeat.version_id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(GameSeat.game_number.in_([row.number for row in rows]))
        .order_by(GameSeat.game_number, GameSeat.seat)
    ):
        seats.setdefault(seat.game_number, []).append((seat.name, seat.number, seat.points, seat.place))
    return tuple(
        GameSummary(
            game=row.id,
            number=row.number,
            players=row.players,
            ended=row.ended,
            seats=tuple(seats[row.number]),
        )
        for row in rows
    )


def game(connection: Connection, id_: str) -> GamePage | None:
    """Return everything public about a game, or None where there is none of that id."""
    row = connection.execute(
        select(
            Game.number,
            Game.match_id,
            Game.ended,
            Game.replay,
            RatingEvent.number.label("event"),
            MatchSet.players,
            MatchSet.pass_both_ways,
            MatchSet.soy_sauce,
            MatchSet.dummy,
        )
        .join(Match, Match.id == Game.match_id)
        .join(MatchSet, MatchSet.number == Match.set_number)
        .join(RatingEvent, RatingEvent.game_number == Game.number)
        .where(Game.id == id_)
    ).one_or_none()
    if row is None:
        return None
    return GamePage(
        game=id_,
        match=row.match_id,
        number=row.number,
        players=row.players,
        variants=tuple(name for name in _VARIANTS if getattr(row, name)),
        ended=row.ended,
        seats=_game_seats(connection, row),
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
        _game_seat(row, changes[row.version_id, OVERALL], changes[row.version_id, game.players])
        for row in rows
    )


def _game_seat(row: Row[Any], overall: Change, by_count: Change) -> SeatOfGame:
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


def candidates(connection: Connection) -> tuple[Candidate, ...]:
    """Return the newest version of every bot with what match-making wants to know, by id."""
    queued = _queued(connection)
    rows = connection.execute(
        select(
            BotVersion.id,
            Bot.name,
            Bot.author,
            Bot.house,
            Rating.players,
            Rating.mean,
            Rating.games,
            Rating.last_played,
        )
        .join(Bot, (BotVersion.bot_id == Bot.id) & (BotVersion.number == Bot.newest))
        .join(Rating, Rating.version_id == BotVersion.id)
        .order_by(BotVersion.id, Rating.players)
    )
    by_version: dict[int, dict[int, Any]] = {}
    for row in rows:
        by_version.setdefault(row.id, {})[row.players] = row
    return tuple(_candidate(version, lists, queued) for version, lists in by_version.items())


def _candidate(version: int, lists: dict[int, Any], queued: dict[tuple[int, int], int]) -> Candidate:
    overall = lists[OVERALL]
    return Candidate(
        version=version,
        bot=overall.name,
        author=overall.author,
        house=overall.house,
        mean=overall.mean,
        last_played=overall.last_played,
        games={players: lists[players].games for players in PLAYER_COUNTS},
        queued={players: queued.get((version, players), 0) for players in PLAYER_COUNTS},
    )


def _queued(connection: Connection) -> dict[tuple[int, int], int]:
    """Return the games of matches that wait or run, by version and number of players."""
    rows = connection.execute(
        select(MatchSeat.version_id, MatchSet.players, func.sum(MatchSet.deals).label("games"))
        .join(Match, Match.id == MatchSeat.match_id)
        .join(MatchSet, MatchSet.number == Match.set_number)
        .where(text(OPEN))
        .group_by(MatchSeat.version_id, MatchSet.players)
    )
    return {(row.version_id, row.players): int(row.games) for row in rows}
