"""What an operator lets single accounts send, on both kinds of database."""

from dataclasses import replace

import pytest

from arena.db.audit import NewAuditEntry
from arena.db.credentials import KnownAccount
from arena.db.errors import QuotaReached
from arena.db.quotas import AccountQuota, Quota
from arena.db.store import Store
from tests.db.builders import START, add_account
from tests.db.test_submissions import new
from tests.kinds import on_both

ENTRY = NewAuditEntry(at=START, who="terminal:root", what="set-quota", subject="account:ben")
USUAL = Quota(submissions_a_day=2, bots=1, on_their_way=99)


@pytest.fixture
def ben(store: Store) -> KnownAccount:
    """Give an account."""
    return add_account(store, "ben")


@on_both
def test_what_is_not_set_stays_what_it_is(store: Store, ben: KnownAccount) -> None:
    """Number by number; zero is a number. Each change is in the audit log."""
    assert store.people.quota(ben.id) == AccountQuota()
    store.people.set_quota(ben.id, AccountQuota(bots=0), ENTRY)
    store.people.set_quota(ben.id, AccountQuota(submissions_a_day=7, challenges_a_day=3), ENTRY)
    assert store.people.quota(ben.id) == AccountQuota(submissions_a_day=7, bots=0, challenges_a_day=3)
    store.people.set_quota(ben.id, AccountQuota(challenges_a_day=4), ENTRY)
    assert store.people.quota(ben.id) == AccountQuota(submissions_a_day=7, bots=0, challenges_a_day=4)
    store.people.reset_quota(ben.id, ENTRY)
    assert store.people.quota(ben.id) == AccountQuota()
    assert [entry.subject for entry in store.people.audit(9)] == ["account:ben"] * 4


@on_both
def test_an_accounts_own_numbers_count_for_it_alone(store: Store, ben: KnownAccount) -> None:
    """More or less than the arena's, until they are reset; for someone without an account nothing is set."""
    mine = replace(new("u9"), account=ben.id)
    store.people.set_quota(ben.id, AccountQuota(submissions_a_day=3, bots=2), ENTRY)
    for number, bot in enumerate(("mine", "second", "mine")):
        store.submissions.add(replace(new(f"u{number}", bot), account=ben.id), USUAL)
    with pytest.raises(QuotaReached, match="3 submissions within 24 hours, and the limit is 3"):
        store.submissions.check(mine, USUAL)
    store.people.set_quota(ben.id, AccountQuota(submissions_a_day=9), ENTRY)
    with pytest.raises(QuotaReached, match="has 2 bots, and the limit is 2"):
        store.submissions.check(replace(mine, bot="third"), USUAL)
    store.people.reset_quota(ben.id, ENTRY)
    with pytest.raises(QuotaReached, match="and the limit is 2"):
        store.submissions.check(mine, USUAL)

    theirs = new("e1", "theirs", author="eve")
    store.submissions.add(theirs, USUAL)
    with pytest.raises(QuotaReached, match="eve has 1 bots, and the limit is 1"):
        store.submissions.check(replace(theirs, bot="other"), USUAL)
