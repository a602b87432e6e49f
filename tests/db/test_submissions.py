"""Tests of submissions, their games and their versions."""

from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256

import pytest

from arena.db.audit import NewAuditEntry
from arena.db.credentials import KnownAccount
from arena.db.errors import BotTaken, QuotaReached, SameContent
from arena.db.matches import NewMatch
from arena.db.quotas import MAX_IN_PROGRESS, AccountQuota, NewSubmission, Quota, UploadAllowance
from arena.db.store import Store
from arena.languages.registry import UploadKind
from arena.protocol.match import Clock, Limits, RuntimeName
from arena.protocol.states import MatchState
from arena.protocol.submissions import Cause, CauseKind, Stage
from arena.rules import Rules
from tests.db.builders import (
    START,
    add_account,
    add_bot,
    add_matches,
    claim_one,
    claimed,
    finished,
    new_match,
    next_claim,
    present,
    put_aside,
    waiting_and_running,
)
from tests.kinds import on_both

ENTRY = NewAuditEntry(at=START, who="terminal:root", what="set-quota", subject="account:ben")
USUAL = Quota(submissions_a_day=2, bots=1, open_submissions=99)
PLENTY = Quota(submissions_a_day=100, bots=100, open_submissions=100)
CAUSE = Cause(
    stage=Stage.QUALIFYING,
    kind=CauseKind.CRASH,
    text="it exited with code 3",
    hint="look at stderr",
    exit_code=3,
    stderr="Traceback \N{SNOWMAN}",
)


def new(id_: str = "u1", bot: str = "mine", author: str = "ben", account: int | None = None) -> NewSubmission:
    """Return a received submission. Its file's content depends on the id."""
    return NewSubmission(
        id=id_,
        bot=bot,
        author=author,
        account=account,
        kind=UploadKind.PYTHON,
        note="a first try \0",
        size=120,
        sha256=sha256(id_.encode()).hexdigest(),
        received=START,
        check_only=False,
    )


def game(id_: str, submission: str, seats: tuple[int | None, ...]) -> NewMatch:
    """Return a qualification match of a submission."""
    return NewMatch(
        id=f"{id_}-0",
        rules=Rules(players=len(seats)),
        bots=seats,
        submission=submission,
        seeds=("5" * 32,),
        clock=Clock(),
        limits=Limits(),
        runtime=RuntimeName.DOCKER,
        created=START,
    )


def qualify(store: Store, id_: str = "u1", source: str = "sha256:new") -> None:
    """Bring a received submission to the stage in which it plays qualification games."""
    store.submissions.mark_inspected(id_, source, START + timedelta(seconds=1))
    store.submissions.mark_qualifying(id_, START + timedelta(seconds=2))


def submit(store: Store, *seats: int | None, bot: str = "mine") -> None:
    """Add a submission `u1` and its match `q-0`. The submission has the seat whose version is None."""
    store.submissions.add(new(bot=bot), PLENTY)
    qualify(store)
    assert store.submissions.add_game(game("q", "u1", seats), played=0)


def stage(store: Store, id_: str = "u1") -> Stage:
    """Return a submission's stage."""
    found = present(store.submissions.find(id_))
    return found.stage


def test_a_submission_goes_from_stage_to_stage(store: Store) -> None:
    """Each stage has its time. The version has the submission's note, size and digest."""
    store.submissions.add(new(), PLENTY)
    qualify(store)
    assert store.bots.find("mine") is None
    assert store.submissions.activate("u1", START + timedelta(seconds=3)) == 1
    found = present(store.submissions.find("u1"))
    assert (found.stage, found.version, found.source) == (Stage.ACTIVE, 1, "sha256:new")
    assert [found.received, found.inspected, found.qualifying, found.ended] == [
        START + timedelta(seconds=second) for second in range(4)
    ]
    assert found.note == "a first try \N{REPLACEMENT CHARACTER}"
    assert store.submissions.open_submissions() == ()
    assert [line.bot for line in store.ratings.standings()] == ["mine"]
    assert store.ladder.rebuild().differing == 0


def test_a_repeated_step_changes_nothing(store: Store) -> None:
    """After a crash, the last step can be repeated. Stages can't be skipped."""
    store.submissions.add(new(), PLENTY)
    assert store.submissions.activate("u1", START) is None
    store.submissions.mark_qualifying("u1", START)
    assert stage(store) is Stage.RECEIVED
    qualify(store)
    store.submissions.mark_inspected("u1", "sha256:other", START)
    assert store.submissions.activate("u1", START) == 1
    assert store.submissions.activate("u1", START) is None
    store.submissions.reject("u1", CAUSE, START)
    found = present(store.submissions.find("u1"))
    assert (found.stage, found.cause, found.source) == (Stage.ACTIVE, None, "sha256:new")
    assert store.activity.totals().bots == 1


def test_a_rejected_submission_says_why(store: Store) -> None:
    """The whole cause of a rejection is stored. No bot is created."""
    store.submissions.add(new(), PLENTY)
    store.submissions.wait("u1", "no room on the disk")
    assert [each.waiting for each in store.submissions.open_submissions()] == ["no room on the disk"]
    cause = replace(CAUSE, stage=Stage.RECEIVED)
    store.submissions.reject("u1", cause, START)
    found = present(store.submissions.find("u1"))
    assert (found.stage, found.cause, found.waiting) == (Stage.REJECTED, cause, None)
    assert store.bots.find("mine") is None


def test_a_rejected_submission_plays_no_more_games(store: Store) -> None:
    """Its author may have cancelled it while its image was loaded or the results of its games were read."""
    house = add_bot(store, "a")
    submit(store, house, None)
    store.submissions.reject("u1", CAUSE, START)
    assert not store.submissions.add_game(game("r", "u1", (house, None)), played=0)
    assert not store.submissions.add_game(game("r", "u1", (house, None)), played=1)


def test_a_qualification_is_kept_and_never_rated(store: Store) -> None:
    """The bot's owner can see the game, but no list, statistics, rating or log includes it."""
    house = [add_bot(store, name) for name in "ab"]
    submit(store, house[0], None, house[1])
    assert not store.submissions.add_game(game("r", "u1", (house[0], None)), played=0)
    before = store.ratings.standings()
    taken = claim_one(store)
    assert [(seat.bot, seat.version, seat.number) for seat in taken.seats] == [
        ("a", house[0], 1),
        ("mine", None, 1),
        ("b", house[1], 1),
    ]
    assert taken.spec.seats[1] == "sha256:new"
    done = finished(taken, [(1, 3, 2)])
    assert store.results.record(done)
    assert not store.results.record(done)
    assert store.ratings.standings() == before
    assert store.games.newest() == ()
    assert store.activity.totals().games == 0
    assert store.games.find("q-0-0") is None
    assert store.ladder.rebuild().differing == 0
    (kept,) = store.submissions.games("u1")
    assert (kept.match, kept.state, kept.seat, kept.game) == ("q-0", MatchState.DONE, 1, "q-0-0")
    assert (kept.report and kept.report.stderr, kept.record) == ("seat 1", done.games[0].record)
    assert store.submissions.replay("u1", "q-0-0") == done.games[0].replay
    assert store.submissions.replay("u2", "q-0-0") is None


def test_the_queue_prefers_what_people_wait_for(store: Store) -> None:
    """Qualifications come first, then matches with new versions, then others, each oldest first."""
    versions = [add_bot(store, name) for name in "ab"]
    add_matches(store, "rest", versions, matches=1)
    store.queue.add(replace(new_match("soon", versions), soon=True))
    store.queue.add(replace(new_match("soon2", versions), soon=True))
    submit(store, None, versions[0])
    assert [claim_one(store).spec.match for _ in range(4)] == ["q-0", "soon", "soon2", "rest-0"]


def test_a_submission_is_not_a_house_bot(store: Store) -> None:
    """While untrusted bots are barred, a submission's match waits, and matchmaking ignores it."""
    house = add_bot(store, "a", author="house")
    submit(store, None, house)
    assert next_claim(store, house_only=True) is None
    assert [sum(each.queued.values()) for each in store.ratings.candidates()] == [0]
    assert "sha256:new" in store.bots.sources_in_use(untrusted_only=True)


@on_both
def test_a_cancelled_submission_keeps_its_image_for_its_match(store: Store) -> None:
    """The image is in use until the match is over, even if the author cancels the submission before."""
    submit(store, None, add_bot(store, "a", author="house"))
    claim = claim_one(store)
    assert store.submissions.withdraw("u1", START)
    assert "sha256:new" in store.bots.sources_in_use(untrusted_only=True)
    assert store.results.record(finished(claim, [(1, 2)]))
    assert "sha256:new" not in store.bots.sources_in_use(untrusted_only=True)


@on_both
def test_a_cancelled_submission_is_not_played(store: Store) -> None:
    """Neither its waiting match nor one that was interrupted is played; the coordinator deletes it."""
    house = add_bot(store, "a", author="house")
    submit(store, None, house)
    claim = claim_one(store)
    assert store.submissions.withdraw("u1", START)
    assert store.leases.record_loss(claim.spec.match, claim.spec.attempt, "why", START) is MatchState.WAITING
    assert store.queue.waiting(RuntimeName.DOCKER) == 0
    assert next_claim(store) is None
    store.leases.expire(START)
    assert waiting_and_running(store) == (0, 0)
    assert "sha256:new" not in store.bots.sources_in_use(untrusted_only=True)


@on_both
def test_a_quarantined_game_is_replaced(store: Store) -> None:
    """The quarantined match doesn't count as one of the submission's games."""
    house = add_bot(store, "a")
    submit(store, None, house)
    put_aside(store)
    assert store.submissions.add_game(game("r", "u1", (None, house)), played=0)
    assert [(each.state, each.reason) for each in store.submissions.games("u1")] == [
        (MatchState.QUARANTINED, "no engine"),
        (MatchState.WAITING, None),
    ]


def test_the_older_version_plays_until_the_new_one_is_accepted(store: Store) -> None:
    """Games drawn with the older version count for it. The new one starts without games."""
    store.submissions.add(new("u0"), PLENTY)
    qualify(store, "u0", "sha256:old")
    store.submissions.activate("u0", START)
    other = add_bot(store, "a")
    (old,) = {each.version for each in store.ratings.candidates() if each.bot == "mine"}
    running = claimed(store, [old, other])
    submit(store, None, other)
    assert claim_one(store).seats[0].number == 2
    assert store.submissions.activate("u1", START) == 2
    assert store.results.record(finished(running, [(1, 2)]))
    assert [(seat.bot, seat.version) for seat in store.games.newest()[0].seats] == [("mine", 1), ("a", 1)]
    (mine,) = [line for line in store.ratings.standings() if line.bot == "mine"]
    assert (mine.version, mine.entry.games) == (2, 0)


def test_names_belong_to_their_first_owner(store: Store) -> None:
    """The name of another author's bot or open submission is refused. Authors can reuse their own names."""
    add_bot(store, "taken", author="ann")
    with pytest.raises(BotTaken, match="belongs to a bot by ann"):
        store.submissions.add(new(bot="taken"), PLENTY)
    store.submissions.add(new("u1"), PLENTY)
    with pytest.raises(BotTaken, match="ben is already submitting"):
        store.submissions.add(new("u2", author="eve"), PLENTY)
    with pytest.raises(BotTaken, match="you are already submitting mine, which differs"):
        store.submissions.add(new("u2", bot="MINE"), PLENTY)
    store.submissions.add(new("u3"), PLENTY)
    qualify(store)
    add_bot(store, "mine", author="ann")
    with pytest.raises(BotTaken):
        store.submissions.activate("u1", START)
    assert stage(store) is Stage.QUALIFYING


@on_both
def test_submissions_have_quotas(store: Store) -> None:
    """Submissions per day, bots, and open submissions of all authors are limited."""
    quota = Quota(submissions_a_day=2, bots=1, open_submissions=3)
    store.submissions.add(new("u1"), quota)
    with pytest.raises(QuotaReached, match="ben has 1 bot, and the limit is 1"):
        store.submissions.check(new("u2", bot="second"), quota)
    store.submissions.add(new("u2"), quota)
    with pytest.raises(QuotaReached, match="ben has sent 2 submissions in the last 24 hours"):
        store.submissions.add(new("u3"), quota)
    tomorrow = replace(new("u3"), received=START + timedelta(days=1))
    store.submissions.add(tomorrow, quota)
    with pytest.raises(QuotaReached, match="3 submissions are in progress"):
        store.submissions.add(new("u4", bot="other", author="ann"), quota)
    assert [each.id for each in store.submissions.newest(limit=2)] == ["u3", "u2"]
    assert [each.id for each in store.submissions.newest(before=2)] == ["u1"]


def test_an_author_has_few_in_progress(store: Store) -> None:
    """The limit keeps a few authors from filling all places. Each rejection makes room for another file."""
    for number in range(MAX_IN_PROGRESS):
        store.submissions.add(new(f"u{number}"), PLENTY)
    with pytest.raises(QuotaReached, match="ben has 8 submissions and checks in progress"):
        store.submissions.add(new("mine"), PLENTY)
    store.submissions.add(new("hers", bot="other", author="ann"), PLENTY)
    store.submissions.reject("u0", CAUSE, START)
    store.submissions.add(new("mine"), PLENTY)


def test_checks_have_their_own_quota(store: Store) -> None:
    """Checks and submissions have equally large quotas. Neither counts towards the other."""
    quota = Quota(submissions_a_day=1, bots=1, open_submissions=9)
    checks = [replace(new(f"c{number}"), check_only=True) for number in range(2)]
    store.submissions.add(checks[0], quota)
    assert store.submissions.allowance("ben", None, quota, START).sent == 0
    with pytest.raises(QuotaReached, match="ben has sent 1 check in the last 24 hours; the limit is 1"):
        store.submissions.add(checks[1], quota)
    store.submissions.begin(replace(new("c2", bot="eves", author="eve"), check_only=True), quota)
    store.submissions.check(new("u3", bot="eves", author="eve"), quota)
    store.submissions.add(new("u1"), quota)
    with pytest.raises(QuotaReached, match="1 submission in"):
        store.submissions.add(new("u2"), quota)


def test_a_submission_that_the_arena_lost_does_not_count(store: Store) -> None:
    """Its author can send the file again."""
    store.submissions.add(new(), replace(USUAL, submissions_a_day=1))
    with pytest.raises(QuotaReached):
        store.submissions.check(new("u2"), replace(USUAL, submissions_a_day=1))
    store.submissions.reject("u1", replace(CAUSE, kind=CauseKind.LOST), START)
    assert store.submissions.allowance("ben", None, USUAL, START).sent == 0
    store.submissions.add(new("u2"), replace(USUAL, submissions_a_day=1))


@on_both
def test_a_rejection_has_the_stage_of_its_submission(store: Store) -> None:
    """The cause names the stage reached, even if several submissions are rejected together."""
    ann = add_account(store, "ann")
    for id_ in ("u1", "u2", "u3"):
        store.submissions.add(new(id_, f"bot-{id_}", "ann", ann.id), PLENTY)
    store.submissions.mark_inspected("u2", "sha256:2", START)
    qualify(store, "u3")
    store.accounts.delete(ann.id, "former-1", START)
    causes = [present(store.submissions.find(id_)).cause for id_ in ("u1", "u2", "u3")]
    assert [present(each).stage for each in causes] == [Stage.RECEIVED, Stage.INSPECTED, Stage.QUALIFYING]


def test_a_quota_says_how_long_it_lasts(store: Store) -> None:
    """The wait ends when the oldest submission is a day old. The wait is None if waiting doesn't help."""
    quota = Quota(submissions_a_day=3, bots=1, open_submissions=4)
    for hour in range(3):
        store.submissions.add(replace(new(f"u{hour}"), received=START + timedelta(hours=hour)), quota)

    def wait(new: NewSubmission, quota: Quota) -> timedelta | None:
        with pytest.raises(QuotaReached) as refused:
            store.submissions.check(new, quota)
        return refused.value.wait

    late = replace(new("u3"), received=START + timedelta(hours=5))
    assert wait(late, quota) == timedelta(hours=19)
    assert wait(late, replace(quota, submissions_a_day=1)) == timedelta(hours=21)
    assert wait(late, replace(quota, submissions_a_day=0)) is None
    tomorrow = START + timedelta(hours=24)
    store.submissions.check(replace(late, received=tomorrow), quota)
    assert wait(replace(late, received=tomorrow, bot="other"), quota) is None
    assert wait(replace(late, received=tomorrow), replace(quota, open_submissions=3)) is None


def test_an_upload_counts_for_a_day_from_its_start(store: Store, ben: KnownAccount) -> None:
    """An upload that becomes a submission counts once. A refunded upload doesn't count."""
    quota = Quota(submissions_a_day=3, bots=1, open_submissions=4)
    for hour in range(3):
        begun = replace(new(f"u{hour}", account=ben.id), received=START + timedelta(hours=hour))
        store.submissions.begin(begun, quota)
    store.submissions.add(begun, quota)
    late = replace(new("u3", account=ben.id), received=START + timedelta(hours=5))
    for refusing in (store.submissions.check, store.submissions.begin, store.submissions.add):
        with pytest.raises(QuotaReached, match=r"sent 3 submissions in the last 24 hours \(2 unf") as refused:
            refusing(late, quota)
        assert refused.value.wait == timedelta(hours=19)

    def left(at: datetime) -> int:
        return store.submissions.allowance("ben", ben.id, quota, at).left

    assert (left(late.received), left(START + timedelta(hours=24))) == (0, 1)
    store.submissions.refund("u1")
    store.submissions.begin(late, quota)
    assert left(late.received) == 0
    store.accounts.delete(ben.id, "gone-1", START)
    sent = store.submissions.allowance("ben", ben.id, quota, late.received).sent
    assert sent == 1, "uploads of a deleted account no longer count"


def test_a_file_is_submitted_during_its_check(store: Store) -> None:
    """The file can be submitted while it is checked, but a second check of it is refused."""
    one = new("u1")
    store.submissions.add(replace(one, check_only=True), PLENTY)
    with pytest.raises(SameContent, match="same file as submission u1 of mine, which is in progress"):
        store.submissions.add(replace(one, id="u2", check_only=True), PLENTY)
    store.submissions.add(replace(one, id="u3"), PLENTY)
    store.submissions.reject("u1", CAUSE, START)
    with pytest.raises(SameContent, match="same file as submission u3"):
        store.submissions.check(replace(one, id="u4", check_only=True), PLENTY)


@on_both
def test_the_same_file_makes_no_new_version(store: Store) -> None:
    """It is refused during the first submission and afterwards. The error names the submission or version."""
    one, other = new("u1"), new("u2")
    store.submissions.add(one, PLENTY)
    again = replace(one, id="u9")
    with pytest.raises(SameContent, match="same file as submission u1 of mine, which is in progress"):
        store.submissions.add(again, PLENTY)
    store.submissions.check(replace(again, bot="second"), PLENTY)
    store.submissions.reject("u1", CAUSE, START)
    store.submissions.add(replace(one, id="u1b"), PLENTY)
    qualify(store, "u1b", "sha256:1")
    store.submissions.activate("u1b", START)
    with pytest.raises(SameContent, match="the same file as mine@1, which is already active"):
        store.submissions.check(again, PLENTY)
    with pytest.raises(SameContent, match="the same file"):  # even if the quota is used up
        store.submissions.check(again, replace(PLENTY, submissions_a_day=0))
    store.bot_states.retire("mine", START)
    with pytest.raises(SameContent, match="the same file as mine@1, which is retired"):
        store.submissions.check(again, PLENTY)
    store.submissions.add(other, PLENTY)
    qualify(store, "u2", "sha256:2")
    store.submissions.activate("u2", START)
    with pytest.raises(SameContent, match="the same file as mine@1, which mine@2 has replaced"):
        store.submissions.check(again, PLENTY)
    assert store.submissions.same_image("mine", "sha256:2") == "mine@2, which is already active"
    assert store.submissions.same_image("mine", "sha256:3") is None
    store.bots.record_missing_images({"sha256:2"}, START)  # only this image is left
    store.submissions.check(again, PLENTY)
    assert store.submissions.same_image("mine", "sha256:1") is None
    assert [each.id for each in store.submissions.newest()] == ["u2", "u1b", "u1"]


def test_the_remaining_allowance_is_known(store: Store, ben: KnownAccount) -> None:
    """The stated allowance follows an upload's rules. An account's own quotas replace the arena's."""
    quota = Quota(submissions_a_day=2, bots=3, open_submissions=9)
    for number in range(2):
        store.submissions.add(new(f"u{number}", account=ben.id), quota)
    store.submissions.reject("u1", CAUSE, START)
    now = store.submissions.allowance("ben", ben.id, quota, START)
    assert now == UploadAllowance(sent=2, submissions_a_day=2, bots=1, max_bots=3)
    assert now.left == 0
    later = store.submissions.allowance("ben", ben.id, quota, START + timedelta(days=1))
    assert later.left == 2
    store.accounts.set_quota(ben.id, AccountQuota(bots=8), ENTRY)
    assert store.submissions.allowance("ben", ben.id, quota, START) == replace(now, max_bots=8)
    store.accounts.set_quota(ben.id, AccountQuota(submissions_a_day=1), ENTRY)
    assert store.submissions.allowance("ben", ben.id, quota, START).submissions_a_day == 1


def test_a_deleted_account_leaves_no_name(store: Store, ben: KnownAccount) -> None:
    """The account's submissions and replays have the pseudonym. Its open submissions are rejected.

    An upload in progress does not become a submission.
    """
    house = add_bot(store, "a", author="house")
    store.submissions.add(new(account=ben.id), PLENTY)
    qualify(store)
    store.submissions.add_game(game("q", "u1", (None, house)), played=0)
    taken = claim_one(store)
    store.results.record(finished(taken, [(1, 2)]))
    late = new("u2", account=ben.id)
    store.submissions.begin(late, PLENTY)
    store.accounts.delete(ben.id, "gone-1", START)
    with pytest.raises(QuotaReached, match="the limit is 0"):
        store.submissions.add(late, PLENTY)
    assert store.submissions.find("u2") is None
    found = present(store.submissions.find("u1"))
    assert (found.author, found.stage) == ("gone-1", Stage.REJECTED)
    assert found.cause is not None
    assert found.cause.kind is CauseKind.WITHDRAWN
    assert '"author":"gone-1"' in (store.submissions.replay("u1", "q-0-0") or "")


def test_quotas_that_are_not_set_stay(store: Store, ben: KnownAccount) -> None:
    """Each quota can be changed separately, even to 0. Each change is in the audit log."""
    assert store.accounts.quota(ben.id) == AccountQuota()
    store.accounts.set_quota(ben.id, AccountQuota(bots=0), ENTRY)
    store.accounts.set_quota(ben.id, AccountQuota(submissions_a_day=7, challenges_a_day=3), ENTRY)
    assert store.accounts.quota(ben.id) == AccountQuota(submissions_a_day=7, bots=0, challenges_a_day=3)
    store.accounts.set_quota(ben.id, AccountQuota(challenges_a_day=4), ENTRY)
    assert store.accounts.quota(ben.id) == AccountQuota(submissions_a_day=7, bots=0, challenges_a_day=4)
    store.accounts.reset_quota(ben.id, ENTRY)
    assert store.accounts.quota(ben.id) == AccountQuota()
    assert [entry.subject for entry in store.accounts.audit(9)] == ["account:ben"] * 4


@on_both
def test_an_accounts_own_quotas_apply_only_to_it(store: Store, ben: KnownAccount) -> None:
    """An account's quotas can be higher or lower than the arena's, until they are reset.

    The arena's quotas apply to authors without an account.
    """
    mine = replace(new("u9"), account=ben.id)
    store.accounts.set_quota(ben.id, AccountQuota(submissions_a_day=3, bots=2), ENTRY)
    for number, bot in enumerate(("mine", "second", "mine")):
        store.submissions.add(replace(new(f"u{number}", bot), account=ben.id), USUAL)
    with pytest.raises(QuotaReached, match="3 submissions in the last 24 hours; the limit is 3"):
        store.submissions.check(mine, USUAL)
    store.accounts.set_quota(ben.id, AccountQuota(submissions_a_day=9), ENTRY)
    with pytest.raises(QuotaReached, match="has 2 bots, and the limit is 2"):
        store.submissions.check(replace(mine, bot="third"), USUAL)
    store.accounts.reset_quota(ben.id, ENTRY)
    with pytest.raises(QuotaReached, match="the limit is 2"):
        store.submissions.check(mine, USUAL)

    theirs = new("e1", "theirs", author="eve")
    store.submissions.add(theirs, USUAL)
    with pytest.raises(QuotaReached, match="eve has 1 bot, and the limit is 1"):
        store.submissions.check(replace(theirs, bot="other"), USUAL)
