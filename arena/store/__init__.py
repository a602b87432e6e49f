"""Everything that is kept: bots, matches, games, ratings, people. SQLite or PostgreSQL.

    store = open_store("sqlite:///data/arena.sqlite3")
    store.writes.add_version(NewVersion(bot="greedy", ...))
    store.reads.leaderboard()

Reads give frozen read models (:mod:`arena.store.reads`), writes are one
transaction each. Ids and times come from the caller.
"""

from arena.store.desk import Desk
from arena.store.errors import (
    BotTaken,
    DatabaseDamaged,
    DatabaseForeign,
    DatabaseNewer,
    DatabaseUnavailable,
    InvitationRefused,
    NameTaken,
    QuotaReached,
    StoreError,
    TooManyTokens,
)
from arena.store.matches import (
    Claim,
    ClaimedSeat,
    FinishedGame,
    FinishedMatch,
    NewQualification,
    NewSet,
)
from arena.store.models import MatchState
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
from arena.store.reads import GamePage, GameSeat, GameSummary, HostStatus, RatingChange, Standing, Totals
from arena.store.rebuild import Rebuilt
from arena.store.store import Reads, Store, Writes, open_store
from arena.store.submitted import KnownSubmission, NewSubmission, QualificationGame, Quota
from arena.store.versions import NewVersion

__all__ = [
    "ApiToken",
    "AuditEntry",
    "BotTaken",
    "Claim",
    "ClaimedSeat",
    "DatabaseDamaged",
    "DatabaseForeign",
    "DatabaseNewer",
    "DatabaseUnavailable",
    "Desk",
    "FinishedGame",
    "FinishedMatch",
    "GamePage",
    "GameSeat",
    "GameSummary",
    "HostStatus",
    "InvitationRefused",
    "KnownAccount",
    "KnownSubmission",
    "MatchState",
    "NameTaken",
    "NewAccount",
    "NewAuditEntry",
    "NewQualification",
    "NewSession",
    "NewSet",
    "NewSubmission",
    "NewToken",
    "NewVersion",
    "OpenSession",
    "People",
    "QualificationGame",
    "Quota",
    "QuotaReached",
    "RatingChange",
    "Reads",
    "Rebuilt",
    "Role",
    "Standing",
    "Store",
    "StoreError",
    "StoredPassword",
    "TooManyTokens",
    "Totals",
    "Writes",
    "open_store",
]
