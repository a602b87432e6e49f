"""Counts the games in a database and those that should be in it, without using the arena's own code."""

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
    """Counts of a database's rows after all matches have been played."""

    matches: int  # queued matches
    games: int  # stored games
    lost: int  # missing games of these matches, and gaps in the rating order
    doubled: int  # games that are stored, or in the ladder's log, more than once
    blamed: int  # faults and take-overs in games, and benched bots
    aside: int  # matches that were wrongly quarantined, or should have been but weren't


class Ledger:
    """Reads an arena's database while the arena is running."""

    def __init__(self, url: str) -> None:
        self._database = Database(url)

    def close(self) -> None:
        """Close all connections. The next read opens new ones."""
        self._database.close()

    @contextmanager
    def look(self) -> Iterator[Connection]:
        """Open a connection for reading."""
        with self._database.read() as connection:
            yield connection

    def claims(self, among: frozenset[str] = frozenset()) -> int:
        """Return the number of claims of these matches, by default of all."""
        wanted = select(func.coalesce(func.sum(MatchRow.attempt), 0))
        with self.look() as connection:
            return int(
                connection.execute(wanted.where(MatchRow.id.in_(among)) if among else wanted).scalar_one()
            )

    def held(self, coordinator: str | None = None) -> frozenset[str]:
        """Return the running matches, of this coordinator if one is given."""
        wanted = select(MatchRow.id).where(MatchRow.state == MatchState.RUNNING)
        if coordinator is not None:
            wanted = wanted.where(MatchRow.coordinator == coordinator)
        with self.look() as connection:
            return frozenset(connection.execute(wanted).scalars())

    def open(self) -> int:
        """Return the number of waiting and running matches, plus that of submissions in progress."""
        wanted = select(func.count()).where(MatchRow.state.in_([MatchState.RUNNING, MatchState.WAITING]))
        open_submissions = select(func.count()).where(SubmissionRow.ended.is_(None))
        with self.look() as connection:
            return sum(connection.execute(count).scalar_one() for count in (wanted, open_submissions))

    def waiting(self) -> frozenset[str]:
        """Return the waiting matches."""
        with self.look() as connection:
            wanted = select(MatchRow.id).where(MatchRow.state == MatchState.WAITING)
            return frozenset(connection.execute(wanted).scalars())

    def most_voids(self) -> int:
        """Return the largest number of voids of any unfinished match."""
        wanted = select(func.coalesce(func.max(MatchRow.voids), 0)).where(MatchRow.state != MatchState.DONE)
        with self.look() as connection:
            return connection.execute(wanted).scalar_one()

    def voids(self) -> int:
        """Return the number of voids of all matches."""
        with self.look() as connection:
            wanted = select(func.coalesce(func.sum(MatchRow.voids), 0))
            return int(connection.execute(wanted).scalar_one())

    def books(self, unplayed: frozenset[str] = frozenset()) -> Books:
        """Count everything. The matches ``unplayed`` should be quarantined, all others played."""
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
