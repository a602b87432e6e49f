"""What is read about bots: the leaderboard, what of it has changed, and the candidates of match-making.

All of it costs the same after ten games and after ten million.
"""

from bisect import bisect_left
from typing import Any

from sqlalchemy import Connection, Row, func, select, text, true

from arena.matchmaking import PLAYER_COUNTS, Candidate
from arena.rating import OVERALL, Entry, conservative
from arena.store import ladder
from arena.store.bot_models import ON_THE_BOARD, Bot, BotState, BotVersion
from arena.store.models import OPEN, Ladder, Match, MatchKind, MatchSeat, MatchSet, Rating
from arena.store.people_models import Account
from arena.store.queue import of_the_house
from arena.store.reads import BoardChanges, BoardLine, Standing


def leaderboard(connection: Connection, players: int = OVERALL) -> tuple[Standing, ...]:
    """Return the version that plays of every bot, best first; equal scores share a rank.

    Versions without a game in this list come last. Bots that are retired or disqualified are left out.

    Args:
        connection: To the store.
        players: 0 is the overall list, 2 to 5 those of a number of players.
    """
    rows = connection.execute(
        select(Bot.name, Bot.author, Bot.state, BotVersion.number, Rating.__table__)
        .join(BotVersion, (BotVersion.bot_id == Bot.id) & (BotVersion.number == Bot.playing))
        .join(Rating, Rating.version_id == BotVersion.id)
        .where(Rating.players == players, Bot.state.in_(ON_THE_BOARD))
    )
    entries = [(row, ladder.entry(row._asdict())) for row in rows]
    keys = [(entry.games == 0, -conservative(entry.rating)) for _, entry in entries]
    order = sorted(
        range(len(entries)),
        key=lambda index: (keys[index], entries[index][1].rating.deviation, entries[index][0].name),
    )
    ranks = sorted(keys)
    return tuple(_standing(bisect_left(ranks, keys[index]) + 1, *entries[index]) for index in order)


def _standing(rank: int, row: Row[Any], entry: Entry) -> Standing:
    return Standing(
        rank=rank,
        bot=row.name,
        version=row.number,
        author=row.author,
        benched=row.state == BotState.BENCHED,
        mean=entry.rating.mean,
        deviation=entry.rating.deviation,
        score=conservative(entry.rating),
        games=entry.games,
        wins=entry.wins,
        mean_place=entry.place_sum / entry.games if entry.games else None,
        faulty=entry.faulty,
        last_played=entry.last_played,
    )


def changes(connection: Connection, players: int, since: int) -> BoardChanges:
    """Return the lines of a leaderboard that are not as they were, in no order.

    Args:
        connection: To the store.
        players: As in :func:`leaderboard`.
        since: The revision that the reader has seen; 0 for all lines.
    """
    ladder_row = connection.execute(select(Ladder.revision, Ladder.games)).one()
    lines: dict[int, BoardLine | None] = {}
    if ladder_row.revision != since:
        rows = connection.execute(
            select(Bot.id, Bot.name, Bot.author, Bot.house, Bot.state, BotVersion.number, Rating.__table__)
            .join(BotVersion, (BotVersion.bot_id == Bot.id) & (BotVersion.number == Bot.playing))
            .join(Rating, Rating.version_id == BotVersion.id)
            .where(Bot.revision > since, Rating.players == players)
        )
        lines = {row.id: _line(row) if row.state in ON_THE_BOARD else None for row in rows}
    return BoardChanges(revision=ladder_row.revision, games=ladder_row.games, lines=lines)


def _line(row: Row[Any]) -> BoardLine:
    return BoardLine(
        bot=row.name,
        version=row.number,
        author=row.author,
        house=row.house,
        benched=row.state == BotState.BENCHED,
        entry=ladder.entry(row._asdict()),
    )


def candidates(connection: Connection, *, house_only: bool = False) -> tuple[Candidate, ...]:
    """Return the version that plays of every active bot with what match-making wants to know, by id.

    Bots of deleted accounts play no more.

    Args:
        connection: To the store.
        house_only: Whether strangers' bots must not play. Then neither they nor what waits with them counts.
    """
    queued = _queued(connection, house_only=house_only)
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
        .join(Bot, (BotVersion.bot_id == Bot.id) & (BotVersion.number == Bot.playing))
        .join(Rating, Rating.version_id == BotVersion.id)
        .outerjoin(Account, Account.id == Bot.account_id)
        .where(Bot.state == BotState.ACTIVE, Account.deleted.is_(None), Bot.house if house_only else true())
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


def _queued(connection: Connection, *, house_only: bool) -> dict[tuple[int, int], int]:
    """Return the games of rated matches that wait or run, by version and number of players."""
    rows = connection.execute(
        select(MatchSeat.version_id, MatchSet.players, func.sum(MatchSet.deals).label("games"))
        .join(Match, Match.id == MatchSeat.match_id)
        .join(MatchSet, MatchSet.number == Match.set_number)
        .where(text(OPEN), of_the_house() if house_only else true())
        .where(Match.kind == MatchKind.RATED)
        .group_by(MatchSeat.version_id, MatchSet.players)
    )
    return {(row.version_id, row.players): int(row.games) for row in rows}
