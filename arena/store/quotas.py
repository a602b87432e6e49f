"""What an operator lets single accounts send, other than the arena's own settings say."""

from dataclasses import asdict, dataclass, replace

from sqlalchemy import Connection, select, update

from arena.store.people_models import Account
from arena.store.submitted import Quota


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountQuota:
    """Numbers of one account; None where the arena's own settings count.

    Attributes:
        submissions_a_day: Received within 24 hours.
        bots: Of different names.
        challenges_a_day: Asked for within 24 hours.
    """

    submissions_a_day: int | None = None
    bots: int | None = None
    challenges_a_day: int | None = None


def find(connection: Connection, account: int) -> AccountQuota:
    """Return what was set for an account."""
    row = connection.execute(
        select(Account.submissions_a_day, Account.bots, Account.challenges_a_day).where(Account.id == account)
    ).one()
    return AccountQuota(**row._asdict())


def put(connection: Connection, account: int, quota: AccountQuota) -> None:
    """Set what there is a number for; the rest stays."""
    values = {name: number for name, number in asdict(quota).items() if number is not None}
    if values:
        connection.execute(update(Account).where(Account.id == account).values(values))


def reset(connection: Connection, account: int) -> None:
    """Let the arena's own settings count again."""
    connection.execute(update(Account).where(Account.id == account).values(asdict(AccountQuota())))


def of_author(connection: Connection, account: int | None, usual: Quota) -> Quota:
    """Return what an author may send; nothing is set for one without an account."""
    if account is None:
        return usual
    own = find(connection, account)
    return replace(
        usual,
        submissions_a_day=usual.submissions_a_day if own.submissions_a_day is None else own.submissions_a_day,
        bots=usual.bots if own.bots is None else own.bots,
    )
