"""Games that may be watched while their matches are played, as far as they are disclosed.

Nothing here is needed for a result. Every method may raise DatabaseUnavailable.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, exists, insert, select, union_all

from arena.store.database import Database
from arena.store.live_models import LiveGame
from arena.store.models import Challenge, Game, Match, MatchKind, MatchSeat, MatchSet, MatchState
from arena.store.submission_models import Submission, UnratedGame


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownGame:
    """A game as far as it may be seen.

    Attributes:
        game: Which of its match, from 0.
        rounds: So many are over.
        text: These, as JSON (``kaiten-live/1``).
    """

    game: int
    rounds: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedMatch:
    """A match that somebody wants to watch.

    Attributes:
        match: Its id.
        kind: What it is for.
        state: How far it is.
        attempt: How often it has been begun.
        games: So many it has at most.
        part_of: Id of the submission or challenge that it is played for; None of a rated one.
        account: Whose that is; None of a rated match, and where there is no account any more.
        shown: Number (from 0) and rounds of the games that can be watched now, in order.
        game: The one that was asked for, or else the newest; None where there is none.
        played: Ids of the games that were recorded, in order.
    """

    match: str
    kind: MatchKind
    state: MatchState
    attempt: int
    games: int
    part_of: str | None
    account: int | None
    shown: tuple[tuple[int, int], ...]
    game: ShownGame | None
    played: tuple[str, ...]


class LiveGames:
    """What can be watched now.

    Args:
        database: The store's.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def show(self, match: str, attempt: int, games: Sequence[ShownGame]) -> bool:
        """Let games be watched as far as they are disclosed; those that are further already stay as they are.

        Returns:
            False where that attempt is not being played any more: nothing is written.
        """
        with self._database.write() as connection:
            return _show(connection, match, attempt, games)

    def find(self, match: str, game: int | None = None) -> WatchedMatch | None:
        """Return a match and one of its games, or None where there is no such match."""
        with self._database.read() as connection:
            row = connection.execute(
                select(Match.id, Match.set_number, Match.kind, Match.state, Match.attempt, MatchSet.deals)
                .join(MatchSet, MatchSet.number == Match.set_number)
                .where(Match.id == match)
            ).one_or_none()
            return None if row is None else _watched(connection, row, game)


def clear(connection: Connection) -> None:
    """Forget the games of all matches that are not being played any more."""
    played = select(Match.id).where(
        Match.id == LiveGame.match_id, Match.attempt == LiveGame.attempt, Match.state == MatchState.RUNNING
    )
    connection.execute(delete(LiveGame).where(~exists(played.correlate(LiveGame))))


def _show(connection: Connection, match: str, attempt: int, games: Sequence[ShownGame]) -> bool:
    # Locked, so that nobody records the match between the look at it and the end of the transaction.
    mine = select(Match.id).where(
        Match.id == match, Match.attempt == attempt, Match.state == MatchState.RUNNING
    )
    if connection.execute(mine.with_for_update()).scalar_one_or_none() is None:
        return False
    clear(connection)
    rows = connection.execute(select(LiveGame.game, LiveGame.rounds).where(LiveGame.match_id == match))
    known = {row.game: row.rounds for row in rows}
    newer = [game for game in games if game.rounds > known.get(game.game, 0)]
    if newer:
        again = [game.game for game in newer]
        connection.execute(delete(LiveGame).where(LiveGame.match_id == match, LiveGame.game.in_(again)))
        connection.execute(
            insert(LiveGame),
            [
                {
                    "match_id": match,
                    "game": game.game,
                    "attempt": attempt,
                    "rounds": game.rounds,
                    "disclosed": game.text,
                }
                for game in newer
            ],
        )
    return True


def _watched(connection: Connection, row: Row[*tuple[Any, ...]], game: int | None) -> WatchedMatch:
    running = row.state == MatchState.RUNNING
    shown = _shown(connection, row.id, row.attempt) if running else ()
    wanted = shown[-1][0] if shown and game is None else game
    part_of, account = _part_of(connection, row)
    return WatchedMatch(
        match=row.id,
        kind=MatchKind(row.kind),
        state=MatchState(row.state),
        attempt=row.attempt,
        games=row.deals,
        part_of=part_of,
        account=account,
        shown=shown,
        game=_game(connection, row, wanted) if running else None,
        played=_played(connection, row.id) if row.state == MatchState.DONE else (),
    )


def _part_of(connection: Connection, match: Row[*tuple[Any, ...]]) -> tuple[str | None, int | None]:
    """Return the id of the challenge or submission that a match is played for, and whose that is."""
    if match.kind == MatchKind.CHALLENGE:
        asked = connection.execute(
            select(Challenge.id, Challenge.account_id).where(Challenge.set_number == match.set_number)
        ).one()
        return asked.id, asked.account_id
    if match.kind == MatchKind.QUALIFICATION:
        sent = connection.execute(
            select(Submission.id, Submission.account_id)
            .join(MatchSeat, MatchSeat.submission_number == Submission.number)
            .where(MatchSeat.match_id == match.id)
        ).one()
        return sent.id, sent.account_id
    return None, None


def _shown(connection: Connection, match: str, attempt: int) -> tuple[tuple[int, int], ...]:
    rows = connection.execute(
        select(LiveGame.game, LiveGame.rounds)
        .where(LiveGame.match_id == match, LiveGame.attempt == attempt)
        .order_by(LiveGame.game)
    )
    return tuple((row.game, row.rounds) for row in rows)


def _game(connection: Connection, match: Row[*tuple[Any, ...]], game: int | None) -> ShownGame | None:
    row = connection.execute(
        select(LiveGame.game, LiveGame.rounds, LiveGame.disclosed).where(
            LiveGame.match_id == match.id, LiveGame.attempt == match.attempt, LiveGame.game == game
        )
    ).one_or_none()
    return None if row is None else ShownGame(game=row.game, rounds=row.rounds, text=row.disclosed)


def _played(connection: Connection, match: str) -> tuple[str, ...]:
    rated, unrated = (
        select(table.id, table.position).where(table.match_id == match) for table in (Game, UnratedGame)
    )
    both = union_all(rated, unrated).subquery()
    return tuple(connection.execute(select(both.c.id).order_by(both.c.position)).scalars())
