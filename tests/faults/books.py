"""What a database holds, counted by nobody but this: which games there should be, and which there are."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from arena.db.database import Database
from arena.db.schema import BotRow, GameRow, GameSeatRow, MatchRow, RatingEventRow, SubmissionRow
from arena.protocol.states import BotState, MatchKind, MatchState


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """What is in a database after all has been played."""

    matches: int  # how many were queued
    games: int  # how many games are there
    lost: int  # games of these matches that are not there, and numbers in the order of rating that nobody has
    doubled: int  # games that are there more than once, or that the log of the ladder has more than once
    blamed: int  # faults and take-overs in games, and bots that were benched
    aside: int  # matches that were put aside and should not have been, or the other way round


class Ledger:
    """A look into the database of an arena, beside the arena."""

    def __init__(self, url: str) -> None:
        self._database = Database(url)

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    def forget(self) -> None:
        """Drop the connections to a server that has gone."""
        self._database.close()

    @contextmanager
    def look(self) -> Iterator[Connection]:
        """Give a connection to read with."""
        with self._database.read() as connection:
            yield connection

    def claims(self, among: frozenset[str] = frozenset()) -> int:
        """Return how often matches were claimed: all, or these."""
        wanted = select(func.coalesce(func.sum(MatchRow.attempt), 0))
        with self.look() as connection:
            return int(
                connection.execute(wanted.where(MatchRow.id.in_(among)) if among else wanted).scalar_one()
            )

    def held(self, coordinator: str | None = None) -> frozenset[str]:
        """Return the matches that are being played, or those of this coordinator."""
        wanted = select(MatchRow.id).where(MatchRow.state == MatchState.RUNNING)
        if coordinator is not None:
            wanted = wanted.where(MatchRow.coordinator == coordinator)
        with self.look() as connection:
            return frozenset(connection.execute(wanted).scalars())

    def open(self) -> int:
        """Return how many matches wait or are being played, and submissions are on their way."""
        wanted = select(func.count()).where(MatchRow.state.in_([MatchState.RUNNING, MatchState.WAITING]))
        on_their_way = select(func.count()).where(SubmissionRow.ended.is_(None))
        with self.look() as connection:
            return sum(connection.execute(count).scalar_one() for count in (wanted, on_their_way))

    def waiting(self) -> frozenset[str]:
        """Return the matches that wait."""
        with self.look() as connection:
            wanted = select(MatchRow.id).where(MatchRow.state == MatchState.WAITING)
            return frozenset(connection.execute(wanted).scalars())

    def most_voids(self) -> int:
        """Return the most faults of the arena that a match has which is not done."""
        wanted = select(func.coalesce(func.max(MatchRow.voids), 0)).where(MatchRow.state != MatchState.DONE)
        with self.look() as connection:
            return connection.execute(wanted).scalar_one()

    def books(self, unplayed: frozenset[str] = frozenset()) -> Books:
        """Count everything; these matches should have been put aside, all others played."""
        with self.look() as connection:
            matches = connection.execute(
                select(MatchRow.id, MatchRow.state, MatchRow.deals).where(MatchRow.kind == MatchKind.RATED)
            ).all()
            games = connection.execute(select(GameRow.number, GameRow.match_id, GameRow.position)).all()
            logged = Counter(
                connection.execute(
                    select(RatingEventRow.game_number).where(RatingEventRow.game_number.is_not(None))
                ).scalars()
            )
            blamed = connection.execute(
                select(
                    func.coalesce(func.sum(GameSeatRow.faults), 0)
                    + func.count().filter(GameSeatRow.taken_over)
                )
            ).scalar_one()
            benched = connection.execute(
                select(func.count()).where(BotRow.state != BotState.ACTIVE)
            ).scalar_one()
        there = Counter((game.match_id, game.position) for game in games)
        wanted = {
            (match.id, position)
            for match in matches
            if match.id not in unplayed
            for position in range(match.deals)
        }
        numbers = {game.number for game in games}
        return Books(
            matches=len(matches),
            games=len(games),
            lost=len(wanted - there.keys()) + len(set(range(1, max(numbers, default=0) + 1)) - numbers),
            doubled=sum(count - 1 for count in there.values())
            + len(there.keys() - wanted)
            + sum(abs(logged[number] - 1) for number in numbers | logged.keys()),
            blamed=int(blamed) + benched,
            aside=sum((match.state == MatchState.QUARANTINED) != (match.id in unplayed) for match in matches),
        )
