"""Tests of operators' actions on bots, and of their view of accounts. For other actions see tests/cli."""

from dataclasses import replace

import pytest

from arena.accounts.errors import NoSuchAccount
from arena.db.bots import NewVersion
from arena.db.quotas import AccountQuota, Quota
from arena.platform.files import Disk
from arena.protocol.states import BotState, Scope
from arena.services.operators import BotOperators, UserStatus, user_status
from arena.submissions.receiver import Receiver
from arena.submissions.uploads import Uploads
from tests.accounts.world import World
from tests.db.builders import add_bot, claimed, finished
from tests.db.test_submissions import new


@pytest.fixture
def bots(world: World) -> BotOperators:
    """Return operators' actions on a store with two versions of ``mine``, and ``other``. Both have played."""
    first = add_bot(world.store, "mine", source="sha256:a", author="Ann")
    other = add_bot(world.store, "other", author="ben")
    assert world.store.results.record(finished(claimed(world.store, (first, other), deals=1), [(1, 2)]))
    add_bot(world.store, "mine", source="sha256:b", author="Ann")
    return BotOperators(world.store, lambda: world.now)


def log(world: World) -> list[tuple[str, str, str, str]]:
    """Return the audit log."""
    return [(entry.who, entry.what, entry.subject, entry.detail) for entry in world.store.people.audit(99)]


def test_operators_actions_on_bots_are_recorded(world: World, bots: BotOperators) -> None:
    """Each entry has the time, the operator and the reason. Each action returns its result."""
    world.later(hours=1)
    assert bots.bench("ann", "mine", " it\x1b[2J prints\nnonsense ").reason == "it [2J prints nonsense"
    assert bots.unbench("ann", "mine").state is BotState.ACTIVE
    retired = bots.retire("ann", "mine")
    assert (retired.state, retired.since) == (BotState.RETIRED, world.now)
    back = bots.play_version("ann", "mine", 1)
    assert (back.state, back.playing) == (BotState.ACTIVE, 1)
    done = bots.disqualify("ann", "mine", "a twin")
    assert (done.events, done.ratings) == (4, 6)
    assert bots.reinstate("ann", "mine").ratings == 6
    assert bots.find("mine").state is BotState.ACTIVE
    assert log(world) == [
        ("ann", "bench", "bot:mine", "it [2J prints nonsense"),
        ("ann", "unbench", "bot:mine", ""),
        ("ann", "retire", "bot:mine", ""),
        ("ann", "play-version", "bot:mine", "version 1"),
        ("ann", "disqualify", "bot:mine", "a twin"),
        ("ann", "reinstate", "bot:mine", ""),
    ]
    assert {entry.at for entry in world.store.people.audit(99)} == {world.now}


def test_all_bots_are_listed_however_many_there_are(world: World) -> None:
    """Bots are listed by name, and can be filtered by state or author."""
    names = [f"bot{number:03}" for number in range(101)]
    for name in reversed(names):
        add_bot(world.store, name, author="Ann" if name.endswith("7") else "ben")
    bots = BotOperators(world.store, lambda: world.now)
    assert [bot.name for bot in bots.every()] == names
    assert [bot.name for bot in bots.every(author="ann")] == names[7::10]
    bots.retire("ann", "bot097")
    assert [bot.name for bot in bots.every(state=BotState.RETIRED, author="ANN")] == ["bot097"]


def status_of(world: World, name: str) -> UserStatus:
    """Return the status of an account. The arena's own quotas are 3, 2 and 5."""
    receiver = Receiver(
        world.store,
        Uploads(world.uploads, Disk(world.uploads, 0)),
        Quota(submissions_a_day=3, bots=2, open_submissions=9),
        now=lambda: world.now,
        new_id=lambda: "id",
    )
    return user_status(world.store, world.accounts, receiver, 5, name)


def test_an_account_is_shown_with_all_it_has(world: World) -> None:
    """It has its bots, recent submissions, valid tokens and sessions, and where its quotas come from."""
    ann = world.add("Ann")
    with pytest.raises(NoSuchAccount, match="no account is called eve"):
        status_of(world, "eve")
    empty = status_of(world, "ann")
    assert (empty.account, empty.bots, empty.submissions) == (ann, (), 0)
    assert (empty.tokens, empty.sessions) == (0, 0)
    assert [(quota.most, quota.own) for quota in empty.quotas.values()] == [
        (3, False),
        (2, False),
        (5, False),
    ]

    version = NewVersion(
        bot="mine", author="Ann", house=False, source="sha256:1", created=world.now, account=ann.id
    )
    world.store.bots.add_version(version)
    world.accounts.tokens.create(ann, name="old", scopes={Scope.READ}, days=1)
    world.later(days=2)
    world.accounts.tokens.create(ann, name="t", scopes={Scope.READ}, days=1)
    for _ in range(2):
        world.log_in(ann)
    quota = Quota(submissions_a_day=9, bots=9, open_submissions=9)
    world.store.submissions.add(replace(new("u1", "mine", "Ann", ann.id), received=world.now), quota)
    world.accounts.operators.set_quota("oper", "ann", AccountQuota(submissions_a_day=0, challenges_a_day=9))
    status = status_of(world, "ANN")
    assert [bot.name for bot in status.bots] == ["mine"]
    assert (status.submissions, status.tokens, status.sessions) == (1, 1, 2)
    assert [(quota.most, quota.own) for quota in status.quotas.values()] == [(0, True), (2, False), (9, True)]
    world.later(days=1)
    assert status_of(world, "ann").submissions == 0
