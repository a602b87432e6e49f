"""An open database, as a set of repositories."""

from contextlib import AbstractContextManager

from arena.db import schema_revision
from arena.db.accounts import AccountRepository
from arena.db.activity import ActivityRepository
from arena.db.analyses import Analyses, Puzzles
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
from arena.db.held_ranks import HeldRanks
from arena.db.histories import Histories
from arena.db.ladder import LadderRepository
from arena.db.leases import LeaseClock, Leases, database_time
from arena.db.live_games import LiveGames
from arena.db.person_games import PersonGames
from arena.db.public_games import PublicGames
from arena.db.queue import MatchQueue
from arena.db.rate_limits import RateLimitRepository
from arena.db.results import Results
from arena.db.standings import RatingRepository
from arena.db.submissions import SubmissionRepository
from arena.db.subscriptions import Subscriptions


class Store:
    """The repositories of an open database. Each method call is normally one transaction."""

    def __init__(self, database: Database, lock: CoordinatorLock, lease_clock: LeaseClock) -> None:
        self._database = database
        self.activity = ActivityRepository(database)
        self.analyses = Analyses(database)
        self.bots = Bots(database)
        self.bot_states = BotStates(database)
        self.cards = CardRepository(database)
        self.challenges = Challenges(database)
        self.credentials = Credentials(database)
        self.games = GameRepository(database)
        self.held_ranks = HeldRanks(database)
        self.histories = Histories(database)
        self.ladder = LadderRepository(database)
        self.leases = Leases(database, lease_clock)  # running matches, and the workers that play them
        self.live = LiveGames(database)  # the running games that may be watched
        self.logs = GameLogs(database)
        self.accounts = AccountRepository(database)
        self.rate_limits = RateLimitRepository(database)
        self.person_games = PersonGames(database)
        self.public_games = PublicGames(database)
        self.puzzles = Puzzles(database)
        self.queue = MatchQueue(database)
        self.ratings = RatingRepository(database)
        self.results = Results(database)
        self.submissions = SubmissionRepository(database)
        self.subscriptions = Subscriptions(database)
        self.change_counter = ChangeCounter(database)  # signals that something was written
        self.coordinator_lock = lock  # only one coordinator can hold it

    def check(self) -> None:
        """Check the open database; see :func:`arena.db.schema_revision.check`."""
        schema_revision.check(self._database)

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Yield the store's content as it is now; see :func:`arena.db.dump.snapshot`."""
        return snapshot(self._database)

    def close(self) -> None:
        """Close all connections."""
        self.change_counter.close()
        self._database.close()


def open_store(url: str, lease_clock: LeaseClock = database_time, *, migrates: bool = True) -> Store:
    """Open a database, check it, and migrate its tables to this program's revision.

    ``url`` is ``sqlite:///FILE`` (created if missing) or ``postgresql+psycopg://…``. Older tables are
    migrated only if ``migrates`` is True. Raises a StoreError that says what is wrong.
    """
    database = Database(url)
    lock = coordinator_lock_of(database)
    try:
        schema_revision.bring_up_to_date(database, lock, migrates=migrates)
    except BaseException:
        database.close()
        raise
    return Store(database, lock, lease_clock)
