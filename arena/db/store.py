"""An open database, as its repositories."""

from contextlib import AbstractContextManager
from dataclasses import dataclass

from arena.db import opening
from arena.db.activity import ActivityRepository
from arena.db.analyses import Analyses
from arena.db.bot_states import BotStates
from arena.db.bots import Bots
from arena.db.card_counts import CardRepository
from arena.db.challenges import Challenges
from arena.db.coordinator_lock import CoordinatorLock, coordinator_lock_of
from arena.db.credentials import Credentials
from arena.db.database import ChangeCounter, Database
from arena.db.dump import Snapshot, snapshot
from arena.db.game_logs import GameLogs
from arena.db.games import GameRepository
from arena.db.histories import Histories
from arena.db.ladder import LadderRepository
from arena.db.leases import LeaseClock, Leases, database_time
from arena.db.live_games import LiveGames
from arena.db.people import People
from arena.db.person_games import PersonGames
from arena.db.puzzles import Puzzles
from arena.db.queue import MatchQueue
from arena.db.ratings import RatingRepository
from arena.db.results import Results
from arena.db.submissions import SubmissionRepository


@dataclass(frozen=True, slots=True)
class Store:
    """The repositories of an open database. Each call of one is a transaction."""

    activity: ActivityRepository
    analyses: Analyses
    bots: Bots
    bot_states: BotStates
    cards: CardRepository
    challenges: Challenges
    credentials: Credentials
    games: GameRepository
    histories: Histories
    ladder: LadderRepository
    leases: Leases  # running matches, and the workers that play them
    live: LiveGames  # the running games that may be watched
    logs: GameLogs
    people: People
    person_games: PersonGames
    puzzles: Puzzles
    queue: MatchQueue
    ratings: RatingRepository
    results: Results
    submissions: SubmissionRepository
    pulse: ChangeCounter  # signals that something was written
    coordinator_lock: CoordinatorLock  # only one coordinator can have it
    _database: Database

    def check(self) -> None:
        """Check that the database answers, has this program's tables, and accepts writes.

        Raises DatabaseChanged, DatabaseUnavailable or DatabaseUnwritable.
        """
        opening.check(self._database)

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Yield the store's content as it is now; see :func:`arena.db.dump.snapshot`."""
        return snapshot(self._database)

    def close(self) -> None:
        """Close all connections."""
        self.pulse.close()
        self._database.close()


def open_store(url: str, lease_clock: LeaseClock = database_time, *, migrates: bool = True) -> Store:
    """Open a database, check it, and migrate its tables to this program's revision.

    ``url`` is ``sqlite:///FILE`` (created if missing) or ``postgresql+psycopg://…``. Only the arena's owner
    may migrate older tables (``migrates``). Raises a StoreError whose subclass says what is wrong and what to
    do.
    """
    database = Database(url)
    lock = coordinator_lock_of(database, url)
    try:
        opening.bring_up_to_date(database, lock, migrates=migrates)
    except BaseException:
        database.close()
        raise
    return Store(
        activity=ActivityRepository(database),
        analyses=Analyses(database),
        bots=Bots(database),
        bot_states=BotStates(database),
        cards=CardRepository(database),
        challenges=Challenges(database),
        credentials=Credentials(database),
        games=GameRepository(database),
        histories=Histories(database),
        ladder=LadderRepository(database),
        leases=Leases(database, lease_clock),
        live=LiveGames(database),
        logs=GameLogs(database),
        people=People(database),
        person_games=PersonGames(database),
        puzzles=Puzzles(database),
        queue=MatchQueue(database),
        ratings=RatingRepository(database),
        results=Results(database),
        submissions=SubmissionRepository(database),
        pulse=ChangeCounter(database),
        coordinator_lock=lock,
        _database=database,
    )
