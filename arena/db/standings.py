"""Reads ratings: the standings for leaderboards, and the candidates for matchmaking.

The cost of a query doesn't grow with the number of games.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, func, select, text, true

from arena.db import ladder
from arena.db.database import Repository, from_row, grouped
from arena.db.games import last_games
from arena.db.queue import only_house_bots
from arena.db.schema import (
    ON_THE_BOARD,
    OPEN_MATCH,
    PLAYS,
    QUARANTINED,
    AccountRow,
    BotRow,
    BotVersionRow,
    GameRow,
    GameSeatRow,
    LadderRow,
    MatchRow,
    MatchSeatRow,
    RatingChangeRow,
    RatingEventRow,
    RatingRow,
)
from arena.ladder.calibration import PredictedGame
from arena.ladder.matchmaking import Candidate
from arena.ladder.rating import Rating
from arena.ladder.rating_events import OVERALL
from arena.ladder.standings import BoardLine, Standing, standings
from arena.platform.periodic import Backoff
from arena.protocol.faults import Fault
from arena.protocol.match import Clock, GameRecord, decode
from arena.protocol.states import BotState, MatchKind
from arena.rules import PLAYER_COUNTS


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardChanges:
    """Changes to a leaderboard."""

    revision: int  # pass it to the next read to get only later changes
    games: int  # number of rated games, with any number of players
    lines: dict[int, BoardLine | None]  # by bot id; None for a bot that has left the leaderboard


class VersionOwner(NamedTuple):
    """The bot that a version belongs to, and the bot's author."""

    bot: str  # name
    author: str
    house: bool  # whether it is a house bot


_MAX_TIMED_GAMES: Final = 12
"""Maximum number of games from which a version's decision time is estimated: its latest ones."""


class RatingRepository(Repository):
    """Ratings of the active versions, in the lists of :data:`arena.ladder.rating_events.LISTS`."""

    def standings(self, players: int = OVERALL) -> tuple[Standing, ...]:
        """Return the active versions in one rating list, best first; versions with equal scores share a rank.

        Versions without games in this list come last. Retired and disqualified bots are left out.
        """
        lines = self.changes(players, 0).lines.values()
        return standings(line for line in lines if line is not None)

    def predicted_games(self, limit: int) -> list[PredictedGame]:
        """Return at most ``limit`` of the latest rated games, oldest first, with overall ratings."""
        with self._transactions.read() as connection:
            newest = (
                select(RatingEventRow.number, RatingEventRow.game_number)
                .where(RatingEventRow.game_number.is_not(None))
                .order_by(RatingEventRow.number.desc())
                .limit(limit)
                .subquery()
            )
            seats = connection.execute(
                select(
                    newest.c.number,
                    GameRow.ended,
                    GameSeatRow.version_id,
                    GameSeatRow.place,
                    RatingChangeRow.mean_before,
                    RatingChangeRow.deviation_before,
                    RatingChangeRow.mean_after,
                    RatingChangeRow.deviation_after,
                )
                .join(GameRow, GameRow.number == newest.c.game_number)
                .join(GameSeatRow, GameSeatRow.game_number == newest.c.game_number)
                .join(
                    RatingChangeRow,
                    (RatingChangeRow.event_number == newest.c.number)
                    & (RatingChangeRow.version_id == GameSeatRow.version_id),
                )
                .where(RatingChangeRow.players == OVERALL)
                .order_by(newest.c.number, GameSeatRow.seat)
            )
            return [
                PredictedGame(
                    versions=tuple(seat.version_id for seat in game),
                    ratings=tuple(Rating(seat.mean_before, seat.deviation_before) for seat in game),
                    rated=tuple(Rating(seat.mean_after, seat.deviation_after) for seat in game),
                    ended=game[0].ended,
                    places=tuple(seat.place for seat in game),
                )
                for game in grouped(seats, "number").values()
            ]

    def changes(self, players: int, since: int) -> BoardChanges:
        """Return a leaderboard's rows that changed after a revision, unordered; revision 0 returns all."""
        with self._transactions.read() as connection:
            ladder_row = connection.execute(select(LadderRow.revision, LadderRow.games)).one()
            lines: dict[int, BoardLine | None] = {}
            if ladder_row.revision != since:
                rows = connection.execute(
                    select(
                        BotRow.id,
                        BotRow.name.label("bot"),
                        BotRow.author,
                        BotRow.house,
                        BotRow.state,
                        BotVersionRow.number.label("version"),
                        RatingRow.__table__,
                    )
                    .join(BotVersionRow, PLAYS)
                    .join(RatingRow, RatingRow.version_id == BotVersionRow.id)
                    .where(BotRow.revision > since, RatingRow.players == players)
                )
                lines = {row.id: _line(row) if row.state in ON_THE_BOARD else None for row in rows}
            return BoardChanges(revision=ladder_row.revision, games=ladder_row.games, lines=lines)

    def owners(self, versions: Iterable[int]) -> dict[int, VersionOwner]:
        """Return the bots and authors of these versions, keyed by version id."""
        with self._transactions.read() as connection:
            rows = connection.execute(
                select(BotVersionRow.id, BotRow.name, BotRow.author, BotRow.house)
                .join(BotRow, BotRow.id == BotVersionRow.bot_id)
                .where(BotVersionRow.id.in_(list(versions)))
            )
            return {row.id: VersionOwner(row.name, row.author, row.house) for row in rows}

    def decision_micros(self, versions: Sequence[int], clock: Clock) -> dict[int, int]:
        """Return versions' mean decision times in their last games, in microseconds.

        A late decision is assumed to have taken the time that ``clock`` allows. Versions without games, and
        those whose replays have been removed, are left out.
        """
        with self._transactions.read() as connection:
            found = {version: _mean_micros(connection, version, clock) for version in versions}
        return {version: micros for version, micros in found.items() if micros is not None}

    def candidates(
        self, *, house_only: bool = False, rested_at: datetime | None = None
    ) -> tuple[Candidate, ...]:
        """Return every active bot's active version for matchmaking, ordered by id.

        Bots of deleted accounts and bots whose image or folder is missing are left out. With ``house_only``,
        untrusted bots and queued matches with such bots are left out too. ``rested_at`` is a time in UTC:
        versions that are resting then after quarantined matches are left out.
        """
        with self._transactions.read() as connection:
            resting = frozenset() if rested_at is None else _resting(connection, rested_at)
            queued = _queued_games(connection, house_only=house_only)
            rows = connection.execute(
                select(
                    BotVersionRow.id.label("version"),
                    BotRow.name.label("bot"),
                    BotRow.author,
                    BotRow.house,
                    RatingRow.players,
                    RatingRow.mean,
                    RatingRow.deviation,
                    RatingRow.games,
                    RatingRow.last_played,
                )
                .join(BotRow, PLAYS)
                .join(RatingRow, RatingRow.version_id == BotVersionRow.id)
                .outerjoin(AccountRow, AccountRow.id == BotRow.account_id)
                .where(
                    BotRow.state == BotState.ACTIVE,
                    BotVersionRow.gone.is_(None),
                    AccountRow.deleted.is_(None),
                    BotRow.house if house_only else true(),
                )
                .order_by(BotVersionRow.id, RatingRow.players)
            )
            by_version: dict[int, dict[int, Any]] = {}
            for row in rows:
                by_version.setdefault(row.version, {})[row.players] = row
            return tuple(
                _candidate(version, lists, queued)
                for version, lists in by_version.items()
                if version not in resting
            )


def _line(row: Any) -> BoardLine:  # noqa: ANN401 - a row of a query
    return from_row(BoardLine, row, benched=row.state == BotState.BENCHED, entry=ladder.entry(row._asdict()))


def _candidate(version: int, lists: dict[int, Any], queued: dict[tuple[int, int], int]) -> Candidate:
    return from_row(
        Candidate,
        lists[OVERALL],
        games={players: lists[players].games for players in PLAYER_COUNTS},
        queued={players: queued.get((version, players), 0) for players in PLAYER_COUNTS},
    )


def _mean_micros(connection: Connection, version: int, clock: Clock) -> int | None:
    millis = 0.0
    decisions = 0
    for row in connection.execute(last_games(version, _MAX_TIMED_GAMES, GameRow.record, GameSeatRow.seat)):
        steps = decode(row.record, GameRecord).steps if row.record else ()
        moves = [decision for step in steps if (decision := step[row.seat]) is not None]
        late = sum(decision.fault is Fault.TIMEOUT for decision in moves)
        millis += sum(decision.millis or 0.0 for decision in moves)
        millis += late * clock.move_millis + (clock.bank_millis if late else 0)
        decisions += len(moves)
    return round(millis * 1000 / decisions) if decisions else None


_REST: Final = Backoff(first=60.0, maximum=86_400.0)
"""Rest of a version, by the number of its rated matches that were quarantined since its last rated game and
in the last day. Without it, a bot that can't be started would be drawn for match after match, because it has
waited longest. The rest is short at first, because the other bots at its tables rest too, and after a host's
failure all bots might."""


def _resting(connection: Connection, at: datetime) -> frozenset[int]:
    """Return the versions that are resting at this time."""
    longest = timedelta(seconds=_REST.maximum)
    rows = connection.execute(
        select(MatchSeatRow.version_id)
        .add_columns(func.count().label("matches"), func.max(MatchRow.ended).label("last"))
        .join(MatchRow, MatchRow.id == MatchSeatRow.match_id)
        .join(RatingRow, (RatingRow.version_id == MatchSeatRow.version_id) & (RatingRow.players == OVERALL))
        .where(text(QUARANTINED), MatchRow.ended.between(at - longest, at), MatchRow.kind == MatchKind.RATED)
        .where(RatingRow.last_played.is_(None) | (RatingRow.last_played < MatchRow.ended))
        .group_by(MatchSeatRow.version_id)
    )
    return frozenset(
        row.version_id for row in rows if at < row.last + timedelta(seconds=_REST.after(row.matches))
    )


def _queued_games(connection: Connection, *, house_only: bool) -> dict[tuple[int, int], int]:
    """Return the number of games in open rated matches, by version and number of players."""
    rows = connection.execute(
        select(MatchSeatRow.version_id, MatchRow.players, func.sum(MatchRow.deals).label("games"))
        .join(MatchRow, MatchRow.id == MatchSeatRow.match_id)
        .where(text(OPEN_MATCH), only_house_bots() if house_only else true())
        .where(MatchRow.kind == MatchKind.RATED)
        .group_by(MatchSeatRow.version_id, MatchRow.players)
    )
    return {(row.version_id, row.players): int(row.games) for row in rows}
