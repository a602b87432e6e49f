"""What operators see of an account."""

from dataclasses import dataclass

from arena.accounts import Accounts
from arena.accounts.errors import NoSuchAccount
from arena.store import KnownAccount, KnownBot, Store
from arena.submitting.receiver import Receiver


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaStatus:
    """How much an account may send of something.

    Attributes:
        most: The number that counts.
        own: Whether it was set for this account; otherwise it is the arena's own.
    """

    most: int
    own: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class UserStatus:
    """An account, and what it has.

    Attributes:
        account: It.
        bots: Its own, by name.
        submissions: How many it has sent within 24 hours.
        submissions_a_day: How many it may.
        most_bots: Bots that it may have.
        challenges_a_day: How many it may ask for within 24 hours.
        tokens: How many work.
        sessions: Browsers that are logged in.
    """

    account: KnownAccount
    bots: tuple[KnownBot, ...]
    submissions: int
    submissions_a_day: QuotaStatus
    most_bots: QuotaStatus
    challenges_a_day: QuotaStatus
    tokens: int
    sessions: int


def user_status(
    store: Store, accounts: Accounts, receiver: Receiver, challenges_a_day: int, name: str
) -> UserStatus:
    """Return what there is of an account.

    Args:
        store: Where it is.
        accounts: Know its ways in.
        receiver: Knows what it may send.
        challenges_a_day: The arena's own number.
        name: The account's, in any case.

    Raises:
        NoSuchAccount: Nobody has that name.
    """
    found = store.people.account(name)
    if found is None:
        raise NoSuchAccount(f"there is no account {name}")
    account = found.account
    own = store.people.quota(account.id)
    sends = receiver.allowance(account.name, account.id)
    challenges = challenges_a_day if own.challenges_a_day is None else own.challenges_a_day
    return UserStatus(
        account=account,
        bots=store.bots.of_account(account.id),
        submissions=sends.sent,
        submissions_a_day=QuotaStatus(most=sends.submissions_a_day, own=own.submissions_a_day is not None),
        most_bots=QuotaStatus(most=sends.most_bots, own=own.bots is not None),
        challenges_a_day=QuotaStatus(most=challenges, own=own.challenges_a_day is not None),
        tokens=len(accounts.tokens.of(account)),
        sessions=len(accounts.sessions.of(account)),
    )
