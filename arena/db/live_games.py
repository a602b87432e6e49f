"""Games in progress, which viewers can watch up to the last disclosed round.

No result depends on this data.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, exists, select, union_all

from arena.db import challenges
from arena.db.database import Repository, from_row, put
from arena.db.schema import (
    ChallengeRow,
    GameRow,
    LiveGameRow,
    MatchRow,
    MatchSeatRow,
    SubmissionRow,
    UnratedGameRow,
)
from arena.protocol.states import MatchKind, MatchState


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedGame:
    """The disclosed part of a game."""

    game: int  # its index in the match, from 0
    rounds: int  # number of completed rounds
    text: str  # these rounds, as JSON (`kaiten-live/1`)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedMatch:
    """A match to watch."""

    match: str  # its id
    kind: MatchKind
    state: MatchState
    attempt: int  # the current attempt's number, from 1
    games: int  # maximum number of games
    part_of: str | None  # id of its submission or challenge; None for a rated match
    # The submission's or challenge's account; None for a rated match, or if there is no account.
    account: int | None
    shown: tuple[tuple[int, int], ...]  # (index, rounds) of the games that can be watched now, in order
    game: WatchedGame | None  # the requested game (by default, the latest); None if it can't be watched
    published: bool  # whether the match and all other matches in its challenge are over
    played: tuple[str, ...]  # ids of the published games, in order


class LiveGames(Repository):
    """The games that can be watched now."""

    def show(self, match: str, attempt: int, games: Sequence[WatchedGame]) -> bool:
        """Store the disclosed parts of games, except those that are no newer than the stored ones.

        Return False, and write nothing, if the attempt is no longer running.
        """
        with self._transactions.write() as connection:
            # Lock the match, so that it can't be recorded before this transaction ends.
            mine = select(MatchRow.id).where(
                MatchRow.id == match, MatchRow.attempt == attempt, MatchRow.state == MatchState.RUNNING
            )
            if connection.execute(mine.with_for_update()).scalar_one_or_none() is None:
                return False
            clear(connection)
            rows = connection.execute(
                select(LiveGameRow.game, LiveGameRow.rounds).where(LiveGameRow.match_id == match)
            )
            known = {row.game: row.rounds for row in rows}
            newer = [
                {
                    "match_id": match,
                    "game": game.game,
                    "attempt": attempt,
                    "rounds": game.rounds,
                    "disclosed": game.text,
                }
                for game in games
                if game.rounds > known.get(game.game, 0)
            ]
            put(connection, LiveGameRow, newer)
            return True

    def find(self, match: str, game: int | None = None) -> WatchedMatch | None:
        """Return a match, and one of its games if that game can be watched; None if the match is unknown."""
        with self._transactions.read() as connection:
            row = connection.execute(
                select(MatchRow.id.label("match"), MatchRow.deals.label("games"), MatchRow.challenge_number)
                .add_columns(MatchRow.kind, MatchRow.state, MatchRow.attempt)
                .where(MatchRow.id == match)
            ).one_or_none()
            return None if row is None else _watched_match(connection, row, game)


def clear(connection: Connection) -> None:
    """Delete the live games of all attempts that are no longer running."""
    played = select(MatchRow.id).where(
        MatchRow.id == LiveGameRow.match_id,
        MatchRow.attempt == LiveGameRow.attempt,
        MatchRow.state == MatchState.RUNNING,
    )
    connection.execute(delete(LiveGameRow).where(~exists(played.correlate(LiveGameRow))))


def _watched_match(connection: Connection, row: Row[*tuple[Any, ...]], game: int | None) -> WatchedMatch:
    running = row.state == MatchState.RUNNING
    shown = _shown_games(connection, row.match, row.attempt) if running else ()
    number = shown[-1][0] if shown and game is None else game
    part_of, account = _part_of(connection, row)
    published = row.state == MatchState.DONE and not challenges.is_open(connection, row.challenge_number)
    return from_row(
        WatchedMatch,
        row,
        part_of=part_of,
        account=account,
        shown=shown,
        game=_game(connection, row, number) if running else None,
        published=published,
        played=_published_games(connection, row.match) if published else (),
    )


def _part_of(connection: Connection, match: Row[*tuple[Any, ...]]) -> tuple[str | None, int | None]:
    """Return the id and account of a match's challenge or submission."""
    if match.kind == MatchKind.CHALLENGE:
        row = connection.execute(
            select(ChallengeRow.id, ChallengeRow.account_id).where(
                ChallengeRow.number == match.challenge_number
            )
        ).one()
        return row.id, row.account_id
    if match.kind == MatchKind.QUALIFICATION:
        sent = connection.execute(
            select(SubmissionRow.id, SubmissionRow.account_id)
            .join(MatchSeatRow, MatchSeatRow.submission_number == SubmissionRow.number)
            .where(MatchSeatRow.match_id == match.match)
        ).one()
        return sent.id, sent.account_id
    return None, None


def _shown_games(connection: Connection, match: str, attempt: int) -> tuple[tuple[int, int], ...]:
    rows = connection.execute(
        select(LiveGameRow.game, LiveGameRow.rounds)
        .where(LiveGameRow.match_id == match, LiveGameRow.attempt == attempt)
        .order_by(LiveGameRow.game)
    )
    return tuple((row.game, row.rounds) for row in rows)


def _game(connection: Connection, match: Row[*tuple[Any, ...]], game: int | None) -> WatchedGame | None:
    row = connection.execute(
        select(LiveGameRow.game, LiveGameRow.rounds, LiveGameRow.disclosed.label("text")).where(
            LiveGameRow.match_id == match.match,
            LiveGameRow.attempt == match.attempt,
            LiveGameRow.game == game,
        )
    ).one_or_none()
    return None if row is None else from_row(WatchedGame, row)


def _published_games(connection: Connection, match: str) -> tuple[str, ...]:
    rated, unrated = (
        select(table.id, table.position).where(table.match_id == match) for table in (GameRow, UnratedGameRow)
    )
    both = union_all(rated, unrated).subquery()
    return tuple(connection.execute(select(both.c.id).order_by(both.c.position)).scalars())
