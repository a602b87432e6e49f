"""The store as the rest of the program sees it: small classes, one transaction a call.

Every method may raise DatabaseUnavailable; what was to be written then is all there or not at all.
Threads may share a store.
"""

from collections.abc import Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from arena.controls import HostReport
from arena.match import RuntimeName
from arena.matchmaking import Candidate
from arena.rating import OVERALL, update
from arena.store import (
    activity,
    audit,
    boards,
    card_counts,
    game_logs,
    games,
    hosts,
    ladder,
    ladder_settings,
    quarantine,
    queue,
    queue_sizes,
    readiness,
    rebuild,
    results,
    sets,
    versions,
    workload,
)
from arena.store.bots import Bots, Challenges
from arena.store.card_counts import CountedCards, RebuiltCards
from arena.store.database import Database
from arena.store.desk import Desk
from arena.store.game_logs import GameLog
from arena.store.helm import Helm, helm_of
from arena.store.histories import Histories
from arena.store.ladder_settings import LadderChange, LadderSettings
from arena.store.lease_clock import LeaseClock, database_time
from arena.store.leases import Leases
from arena.store.live_games import LiveGames
from arena.store.matches import FinishedMatch, NewSet
from arena.store.models import MatchKind, MatchState
from arena.store.opening import bring_up_to_date
from arena.store.people import People
from arena.store.persons import NewAuditEntry
from arena.store.pulse import Pulse
from arena.store.quarantine import QuarantinedMatch
from arena.store.reads import (
    Activity,
    BoardChanges,
    GamePage,
    GameSummary,
    HostStatus,
    Standing,
    Totals,
)
from arena.store.retention import Retention
from arena.store.revision import check_revision
from arena.store.snapshot import Snapshot, snapshot
from arena.store.workload import Workload


class Reads:
    """What can be asked."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def leaderboard(self, players: int = OVERALL) -> tuple[Standing, ...]:
        """Return the version that plays of every bot, best first, by list: 0 overall, else by players."""
        with self._database.read() as connection:
            return boards.leaderboard(connection, players)

    def board_changes(self, players: int, since: int) -> BoardChanges:
        """Return the lines of a leaderboard that changed after a revision; of all bots since revision 0."""
        with self._database.read() as connection:
            return boards.changes(connection, players, since)

    def activity(self, at: datetime) -> Activity:
        """Return what is being played, how much was lately, and what of it was remarkable."""
        with self._database.read() as connection:
            return activity.read(connection, at)

    def games(
        self,
        before: int | None = None,
        limit: int = 50,
        *,
        bot: str | None = None,
        version: int | None = None,
    ) -> tuple[GameSummary, ...]:
        """Return at most ``limit`` games, newest first, with a number smaller than ``before``.

        With ``bot`` only those of this bot, with ``version`` too only those of this version of it.
        """
        with self._database.read() as connection:
            return games.games(connection, before, limit, bot=bot, version=version)

    def first_game(self, bot: str, version: int) -> str | None:
        """Return the id of the first rated game of a version of a bot, or None where it has played none."""
        with self._database.read() as connection:
            return games.first_game(connection, bot, version)

    def game(self, id_: str) -> GamePage | None:
        """Return everything public about a game, or None where there is none of that id."""
        with self._database.read() as connection:
            return games.game(connection, id_)

    def totals(self) -> Totals:
        """Return how much there is."""
        with self._database.read() as connection:
            return games.totals(connection)

    def waiting(self, runtime: RuntimeName, *, house_only: bool = False, rated_only: bool = False) -> int:
        """Return how many matches wait for this runtime; only those of the house, or rated ones, if asked."""
        with self._database.read() as connection:
            return queue.waiting(connection, runtime, house_only=house_only, rated_only=rated_only)

    def queue_sizes(self) -> dict[tuple[MatchState, MatchKind], int]:
        """Return how many matches wait, run and were put aside, of each kind."""
        with self._database.read() as connection:
            return queue_sizes.read(connection)

    def quarantined(self) -> int:
        """Return how many matches have been put aside for faults of the arena."""
        with self._database.read() as connection:
            return queue.quarantined(connection)

    def quarantine(self, limit: int | None = None) -> tuple[QuarantinedMatch, ...]:
        """Return what was put aside for faults of the arena, the last one first; without a limit all."""
        with self._database.read() as connection:
            return quarantine.listed(connection, limit)

    def workload(self, at: datetime, hours: int = 24) -> Workload:
        """Return what there is to do, what is being played, and what was in so many hours of the clock."""
        with self._database.read() as connection:
            return workload.read(connection, at, hours)

    def candidates(self, *, house_only: bool = False) -> tuple[Candidate, ...]:
        """Return the version that plays of every active bot, for match-making, or only of the house's."""
        with self._database.read() as connection:
            return boards.candidates(connection, house_only=house_only)

    def hosts(self) -> tuple[HostStatus, ...]:
        """Return what every host was last seen to hold, the one that was checked last first."""
        with self._database.read() as connection:
            return hosts.hosts(connection)

    def game_log(self, id_: str) -> GameLog | None:
        """Return what bots printed and noted in a game, rated or not; it is private to their owners."""
        with self._database.read() as connection:
            return game_logs.find(connection, id_)

    def cards(self, players: int | None = None) -> CountedCards:
        """Return the statistics of cards, in games of so many players, or in all."""
        with self._database.read() as connection:
            return card_counts.find(connection, players)

    def ladder(self) -> LadderSettings:
        """Return what the ladder plays."""
        with self._database.read() as connection:
            return ladder_settings.find(connection)

    def sources_in_use(self, *, strangers_only: bool = False) -> frozenset[str]:
        """Return the sources of all that play: versions, open matches, submissions on their way.

        With ``strangers_only`` those of the house's own bots are left out.
        """
        with self._database.read() as connection:
            return versions.sources_in_use(connection, strangers_only=strangers_only)


class Writes:
    """What can be changed. The functions behind these say more."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_version(self, new: versions.NewVersion) -> int:
        """Return the id of the version of a bot that plays now, which is made unless its source is the same.

        Raises:
            BotDisqualified: It may play no more.
            BotTaken: The name belongs to another author.
        """
        with self._database.write() as connection:
            return versions.add_version(connection, new)

    def add_set(self, new: NewSet) -> tuple[str, ...]:
        """Write the rows of a set's matches and return their ids.

        Raises:
            ValueError: A version that isn't there.
        """
        with self._database.write() as connection:
            return sets.add_set(connection, new)

    def record(self, finished: FinishedMatch) -> bool:
        """Write a match's result and rate its games; False where the attempt is stale or recorded already.

        Raises:
            DatabaseChanged: A newer program has changed the tables meanwhile.
            ValueError: The seats aren't those of the match.
        """
        with self._database.write() as connection:
            check_revision(connection, self._database.url)
            return results.record(connection, finished)

    def record_host(self, report: HostReport, accepted: Collection[str]) -> None:
        """Keep what a host was seen to hold, in place of its last report."""
        with self._database.write() as connection:
            hosts.record(connection, report, accepted)

    def change_ladder(self, wanted: LadderChange, entry: NewAuditEntry) -> bool:
        """Change what the ladder plays from the next set on.

        Returns:
            False where it plays that already: nothing changed, and nothing is written to the audit log.

        Raises:
            ValueError: The ladder can't play that.
        """
        with self._database.write() as connection:
            changed = ladder_settings.change(connection, wanted)
            audit.record(connection, entry if changed else None)
            return changed

    def release(self, match: str, entry: NewAuditEntry) -> None:
        """Let a match that was put aside wait again.

        Raises:
            BotDisqualified: A bot that sits in it plays no more.
            NoSuchMatch: There is none of that id.
            VersionGone: The image of a bot that sits in it was removed.
            WrongState: It was not put aside, or its submission plays another one instead.
        """
        with self._database.write() as connection:
            quarantine.release(connection, match)
            audit.record(connection, entry)

    def rebuild_ratings(self) -> rebuild.Rebuilt:
        """Fold the log from its beginning, compare, and replace what differs.

        That takes about a millisecond a game that was ever rated; others wait for the last part of it alone.
        """
        rate = cache(update)
        with self._database.read() as connection:
            rebuild.rehearse(connection, ladder.disqualified(connection), rate)
        with self._database.write() as connection:
            return rebuild.rebuild(connection, rate)

    def rebuild_cards(self) -> RebuiltCards:
        """Count all games anew for the statistics of cards, compare, and replace what differs.

        That takes about a millisecond a game; others wait for the last part of it alone.
        """
        with self._database.read() as connection:
            counted = card_counts.fold(connection, ladder.disqualified(connection))
        with self._database.write() as connection:
            return card_counts.rebuild(connection, counted)


@dataclass(frozen=True, slots=True)
class Store:
    """An open store.

    Attributes:
        reads: What can be asked.
        writes: What can be changed.
        leases: Matches that are being played, and by whom.
        live: Games of these, as far as they may be watched.
        people: Accounts and their ways in.
        desk: Submissions on their way, and what became of them.
        bots: Which there are, and what plays.
        challenges: Matches that somebody asked for.
        histories: What happened to bots.
        retention: Removes what is kept for a time only.
        pulse: Whether anybody has written.
        helm: Held by one coordinator.
    """

    reads: Reads
    writes: Writes
    leases: Leases
    live: LiveGames
    people: People
    desk: Desk
    bots: Bots
    challenges: Challenges
    histories: Histories
    retention: Retention
    pulse: Pulse
    helm: Helm
    _database: Database

    def check(self) -> None:
        """Make sure that the database answers, has the tables of this program, and takes writes.

        Raises:
            DatabaseChanged: They are those of another version.
            DatabaseUnavailable: It can't be reached.
            DatabaseUnwritable: It can be read alone.
        """
        readiness.check(self._database)

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Give all that is kept, as it is now, for as long as the context lasts."""
        return snapshot(self._database)

    def close(self) -> None:
        """Close all connections."""
        self.pulse.close()
        self._database.close()


def open_store(url: str, lease_clock: LeaseClock = database_time) -> Store:
    """Open a database, check it, and bring its tables to what this program needs.

    Args:
        url: ``sqlite:///FILE`` (made where it isn't there) or ``postgresql+psycopg://…``.
        lease_clock: By which leases are told.

    Raises:
        StoreError: One of its kinds says what is wrong and what to do.
    """
    database = Database(url)
    try:
        bring_up_to_date(database)
    except BaseException:
        database.close()
        raise
    return Store(
        reads=Reads(database),
        writes=Writes(database),
        leases=Leases(database, lease_clock),
        live=LiveGames(database),
        people=People(database),
        desk=Desk(database),
        bots=Bots(database),
        challenges=Challenges(database),
        histories=Histories(database),
        retention=Retention(database),
        pulse=Pulse(database),
        helm=helm_of(database, url),
        _database=database,
    )
