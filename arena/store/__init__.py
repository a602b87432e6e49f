"""Everything that is kept: bots, matches, games, ratings, people. SQLite or PostgreSQL.

    store = open_store("sqlite:///data/arena.sqlite3")
    store.writes.add_version(NewVersion(bot="greedy", ...))
    store.reads.leaderboard()

Reads give frozen read models (:mod:`arena.store.reads`), writes are one
transaction each. Ids and times come from the caller.
"""

from arena.store.bot_models import BotState
from arena.store.bot_results import LOOKED_THROUGH, FoundGames, WantedGames
from arena.store.bots import Bots, Challenges
from arena.store.card_counts import CountedCards, RebuiltCards
from arena.store.challenge_rows import ChallengeGame, KnownChallenge, NewChallenge
from arena.store.desk import Desk
from arena.store.errors import (
    BotDisqualified,
    BotTaken,
    DatabaseChanged,
    DatabaseDamaged,
    DatabaseForeign,
    DatabaseNewer,
    DatabaseNotEmpty,
    DatabaseUnavailable,
    DatabaseUnwritable,
    InvitationRefused,
    LastOperator,
    NameTaken,
    NoSuchBot,
    NoSuchMatch,
    NoSuchVersion,
    QuotaReached,
    SameContent,
    StoreError,
    TooManyTokens,
    VersionGone,
    WrongState,
)
from arena.store.game_logs import GameLog, SeatLog
from arena.store.helm import Helm
from arena.store.histories import CurvePoint, Histories, Opponent, RecordedGame, VersionCurve
from arena.store.known_bots import KnownBot, KnownVersion
from arena.store.ladder_settings import LadderChange, LadderSettings
from arena.store.lease_clock import LeaseClock, LeaseTime, database_time
from arena.store.leases import LEASE_SECONDS, RENEW_SECONDS, KnownWorker, Leases
from arena.store.live_games import LiveGames, ShownGame, WatchedMatch
from arena.store.matches import (
    Claim,
    ClaimedSeat,
    FinishedGame,
    FinishedMatch,
    NewQualification,
    NewSet,
)
from arena.store.models import MatchKind, MatchState
from arena.store.people import People
from arena.store.persons import (
    ApiToken,
    AuditEntry,
    KnownAccount,
    NewAccount,
    NewAuditEntry,
    NewSession,
    NewToken,
    OpenSession,
    Role,
    StoredPassword,
)
from arena.store.quarantine import QuarantinedMatch
from arena.store.queue import QueuePlace
from arena.store.quotas import AccountQuota
from arena.store.reads import (
    Activity,
    BoardChanges,
    BoardLine,
    GamePage,
    GameSeat,
    GameSummary,
    HostStatus,
    RatingChange,
    RemarkableGame,
    RunningMatch,
    SeatResult,
    Standing,
    Totals,
)
from arena.store.rebuild import Rebuilt
from arena.store.running import OpenMatch
from arena.store.snapshot import Snapshot, TableRows
from arena.store.store import Reads, Store, Writes, open_store
from arena.store.submitted import Allowance, KnownSubmission, NewSubmission, QualificationGame, Quota
from arena.store.versions import NewVersion
from arena.store.workload import HourOfGames, Workload

__all__ = [
    "LEASE_SECONDS",
    "LOOKED_THROUGH",
    "RENEW_SECONDS",
    "AccountQuota",
    "Activity",
    "Allowance",
    "ApiToken",
    "AuditEntry",
    "BoardChanges",
    "BoardLine",
    "BotDisqualified",
    "BotState",
    "BotTaken",
    "Bots",
    "ChallengeGame",
    "Challenges",
    "Claim",
    "ClaimedSeat",
    "CountedCards",
    "CurvePoint",
    "DatabaseChanged",
    "DatabaseDamaged",
    "DatabaseForeign",
    "DatabaseNewer",
    "DatabaseNotEmpty",
    "DatabaseUnavailable",
    "DatabaseUnwritable",
    "Desk",
    "FinishedGame",
    "FinishedMatch",
    "FoundGames",
    "GameLog",
    "GamePage",
    "GameSeat",
    "GameSummary",
    "Helm",
    "Histories",
    "HostStatus",
    "HourOfGames",
    "InvitationRefused",
    "KnownAccount",
    "KnownBot",
    "KnownChallenge",
    "KnownSubmission",
    "KnownVersion",
    "KnownWorker",
    "LadderChange",
    "LadderSettings",
    "LastOperator",
    "LeaseClock",
    "LeaseTime",
    "Leases",
    "LiveGames",
    "MatchKind",
    "MatchState",
    "NameTaken",
    "NewAccount",
    "NewAuditEntry",
    "NewChallenge",
    "NewQualification",
    "NewSession",
    "NewSet",
    "NewSubmission",
    "NewToken",
    "NewVersion",
    "NoSuchBot",
    "NoSuchMatch",
    "NoSuchVersion",
    "OpenMatch",
    "OpenSession",
    "Opponent",
    "People",
    "QualificationGame",
    "QuarantinedMatch",
    "QueuePlace",
    "Quota",
    "QuotaReached",
    "RatingChange",
    "Reads",
    "Rebuilt",
    "RebuiltCards",
    "RecordedGame",
    "RemarkableGame",
    "Role",
    "RunningMatch",
    "SameContent",
    "SeatLog",
    "SeatResult",
    "ShownGame",
    "Snapshot",
    "Standing",
    "Store",
    "StoreError",
    "StoredPassword",
    "TableRows",
    "TooManyTokens",
    "Totals",
    "VersionCurve",
    "VersionGone",
    "WantedGames",
    "WatchedMatch",
    "Workload",
    "Writes",
    "WrongState",
    "database_time",
    "open_store",
]
