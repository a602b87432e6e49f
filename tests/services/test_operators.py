"""What operators do with bots, the ladder and matches, over a real store."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from arena.accounts.errors import NoSuchAccount
from arena.db.bots import NewVersion
from arena.db.errors import NoSuchBot, NoSuchMatch, WrongState
from arena.db.quotas import AccountQuota, Quota
from arena.ladder.settings import LadderChange, LadderSettings
from arena.platform.files import Disk
from arena.protocol.match import Clock, Limits
from arena.protocol.states import BotState, Scope
from arena.services.operators import (
    REASON_LENGTH,
    BotOperators,
    LadderOperators,
    OperationRefused,
    QuarantineOperators,
    QuotaStatus,
    UserStatus,
    user_status,
)
from arena.submissions.receiver import Receiver
from arena.submissions.uploads import Uploads
from tests.accounts.world import World
from tests.db.builders import add_bot, claimed, finished
from tests.db.test_submissions import new

LIMITS = Limits(cpus=0.2)


@pytest.fixture
def bots(world: World) -> BotOperators:
    """Give what operators do with bots: two versions of ``mine``, and ``other``, which have played."""
    first = add_bot(world.store, "mine", source="sha256:a", author="Ann")
    other = add_bot(world.store, "other", author="ben")
    assert world.store.results.record(finished(claimed(world.store, (first, other), deals=1), [(1, 2)]))
    add_bot(world.store, "mine", source="sha256:b", author="Ann")
    return BotOperators(world.store, lambda: world.now)


def log(world: World) -> list[tuple[str, str, str, str]]:
    """Return the audit log."""
    return [(entry.who, entry.what, entry.subject, entry.detail) for entry in world.store.people.audit(99)]


def test_what_operators_do_with_bots_is_written_down(world: World, bots: BotOperators) -> None:
    """Each change, by its time, with who and why; and what came of it is told."""
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


@pytest.mark.parametrize(
    ("act", "error", "why"),
    [
        (lambda bots: bots.bench("ann", "mine", " \t"), OperationRefused, "the reason is missing"),
        (
            lambda bots: bots.disqualify("ann", "mine", "x" * (REASON_LENGTH + 1)),
            OperationRefused,
            r"the reason has 201 characters \(limit 200\)",
        ),
        (lambda bots: bots.retire("ann", "other"), WrongState, "other is already retired"),
        (lambda bots: bots.play_version("ann", "mine", 2), WrongState, "mine@2 is already active"),
        (lambda bots: bots.find("yours"), NoSuchBot, "no bot is called yours"),
    ],
)
def test_what_changes_nothing_is_refused(
    world: World,
    bots: BotOperators,
    act: Callable[[BotOperators], object],
    error: type[Exception],
    why: str,
) -> None:
    """With a reason, and without a line in the audit log."""
    bots.retire("ann", "other")
    before = list(bots.every())
    with pytest.raises(error, match=why):
        act(bots)
    assert list(bots.every()) == before
    assert len(log(world)) == 1


def test_all_bots_are_listed_however_many_there_are(world: World) -> None:
    """By name; or those in a state, or of an author."""
    names = [f"bot{number:03}" for number in range(201)]
    for name in reversed(names):
        add_bot(world.store, name, author="Ann" if name.endswith("7") else "ben")
    bots = BotOperators(world.store, lambda: world.now)
    assert [bot.name for bot in bots.every()] == names
    assert [bot.name for bot in bots.every(author="ann")] == names[7::10]
    bots.retire("ann", "bot117")
    assert [bot.name for bot in bots.every(state=BotState.RETIRED, author="ANN")] == ["bot117"]


def test_the_ladder_is_shown_and_changed(world: World, bots: BotOperators) -> None:
    """What it plays, on which terms, and how far it is; a change says what it was."""
    operators = LadderOperators(world.store, lambda: world.now, LIMITS)
    mine = [candidate.version for candidate in world.store.ratings.candidates()]
    claimed(world.store, mine, id_="running")
    status = operators.status()
    assert (status.settings.clock, status.limits) == (Clock(), LIMITS)
    assert (status.games, status.waiting, status.running, status.quarantined) == (1, 0, 1, 0)
    changed = operators.change("ann", LadderChange(paused=True, players=(2, 3), deals=1))
    assert changed.settings == LadderSettings(paused=True, players=(2, 3), deals=1)
    with pytest.raises(WrongState, match="already has these settings"):
        operators.change("ann", LadderChange(deals=1))
    with pytest.raises(OperationRefused, match="deals must be 1 to 24, not 0"):
        operators.change("ann", LadderChange(deals=0))
    assert not operators.change("ann", LadderChange(paused=False)).settings.paused
    assert log(world) == [
        ("ann", "ladder", "", "paused; players 2,3; deals 1"),
        ("ann", "ladder", "", "resumed"),
    ]
    assert len(list(bots.every())) == 2


def test_a_match_is_released_from_quarantine(world: World, bots: BotOperators) -> None:
    """And it is written down, unless it isn't there."""
    mine = [world.store.bots.version_id(bot.name, bot.playing) or 0 for bot in bots.every()]
    spec = claimed(world.store, mine, id_="m").spec
    for attempt in range(1, 4):
        world.store.leases.void(spec.match, attempt, "no engine", world.now)
        world.store.leases.claim("here", "worker", world.now, spec.runtime)
    operators = QuarantineOperators(world.store, lambda: world.now)
    assert [match.match for match in operators.every()] == ["m-0"]
    operators.release("ann", "m-0")
    assert operators.every() == ()
    with pytest.raises(NoSuchMatch):
        operators.release("ann", "n-0")
    assert log(world) == [("ann", "release", "match:m-0", "")]


def status_of(world: World, name: str) -> UserStatus:
    """Return what there is of an account, where the arena's own numbers are 3, 2 and 5."""
    receiver = Receiver(
        world.store,
        Uploads(world.uploads, Disk(world.uploads, 0)),
        Quota(submissions_a_day=3, bots=2, on_their_way=9),
        now=lambda: world.now,
        new_id=lambda: "id",
    )
    return user_status(world.store, world.accounts, receiver, 5, name)


def test_an_account_is_shown_with_all_it_has(world: World) -> None:
    """Its bots, what it has sent within a day, what works of its ways in, and where its quotas come from."""
    ann = world.add("Ann")
    with pytest.raises(NoSuchAccount, match="there is no account eve"):
        status_of(world, "eve")
    empty = status_of(world, "ann")
    assert (empty.account, empty.bots, empty.submissions) == (ann, (), 0)
    assert (empty.tokens, empty.sessions) == (0, 0)
    assert empty.submissions_a_day == QuotaStatus(most=3, own=False)
    assert empty.most_bots == QuotaStatus(most=2, own=False)
    assert empty.challenges_a_day == QuotaStatus(most=5, own=False)

    version = NewVersion(
        bot="mine", author="Ann", house=False, source="sha256:1", created=world.now, account=ann.id
    )
    world.store.bots.add_version(version)
    world.accounts.tokens.create(ann, name="old", scopes={Scope.READ}, days=1)
    world.later(days=2)
    world.accounts.tokens.create(ann, name="t", scopes={Scope.READ}, days=1)
    for _ in range(2):
        world.accounts.sessions.open(ann, "", instead_of=None)
    quota = Quota(submissions_a_day=9, bots=9, on_their_way=9)
    world.store.submissions.add(replace(new("u1", "mine", "Ann", ann.id), received=world.now), quota)
    world.accounts.operators.set_quota("oper", "ann", AccountQuota(submissions_a_day=0, challenges_a_day=9))
    status = status_of(world, "ANN")
    assert [bot.name for bot in status.bots] == ["mine"]
    assert (status.submissions, status.tokens, status.sessions) == (1, 1, 2)
    assert status.submissions_a_day == QuotaStatus(most=0, own=True)
    assert status.most_bots == QuotaStatus(most=2, own=False)
    assert status.challenges_a_day == QuotaStatus(most=9, own=True)
    world.later(days=1)
    assert status_of(world, "ann").submissions == 0
