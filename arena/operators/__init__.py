"""What operators do with bots, the ladder and matches, by a command or on the site. No engine, no web.

What they do with accounts is in :mod:`arena.accounts.operators`. Each change is written to the audit log in
the same transaction.
"""

from arena.operators.bots import BotOperators
from arena.operators.errors import OperationRefused
from arena.operators.ladder import LadderOperators, LadderStatus
from arena.operators.people import QuotaStatus, UserStatus, user_status
from arena.operators.quarantine import QuarantineOperators

__all__ = [
    "BotOperators",
    "LadderOperators",
    "LadderStatus",
    "OperationRefused",
    "QuarantineOperators",
    "QuotaStatus",
    "UserStatus",
    "user_status",
]
