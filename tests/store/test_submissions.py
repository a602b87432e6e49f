"""Submissions, their games, and what they become, on both kinds of database."""

from dataclasses import replace
from datetime import timedelta
from hashlib import sha256

import pytest
from alembic import command
from sqlalchemy import text

from arena.match import Clock, Limits, RuntimeName
from arena.store import (
    AccountQuota,
    Allowance,
    BotTaken,
    Claim,
    MatchState,
    NewAccount,
    NewAuditEntry,
    NewQualification,
    NewSubmission,
    Quota,
    QuotaReached,
    Role,
    SameContent,
    Store,
    open_store,
)
from arena.store.database import Database
from arena.store.migrate import alembic_config
from arena.submitting.stages import Cause, CauseKind, Stage, UploadKind
from tests.store.builders import START, add_bot, claimed, finished, new_set

PLENTY = Quota(submissions_a_day=100, bots=100, on_their_way=100)
CAUSE = Cause(
    stage=Stage.QUALIFYING,
    kind=CauseKind.CRASH,
    text="it ended with exit code 3",
    hint="look at stderr",
    exit_code=3,
    stderr="Traceback \N{SNOWMAN}",
)


def new(id_: str = "u1", bot: str = "mine", author: str = "ben", account: int | None = None) -> NewSubmission:
    """Make what is known of a file that is here; another file for each id."""
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
    )


def game(id_: str, submission: str, seats: tuple[int | None, ...]) -> NewQualification:
    """Make a match of a submission."""
    return NewQualification(
        id=id_,
        submission=submission,
        seed="5" * 32,
        seats=seats,
        clock=Clock(),
        limits=Limits(),
        runtime=RuntimeName.DOCKER,
        created=START,
    )


def qualify(store: Store, id_: str = "u1", source: str = "sha256:new") -> None:
    """Bring a received submission to its games."""
    store.desk.inspected(id_, source, START + timedelta(seconds=1))
    store.desk.qualifying(id_, START + timedelta(seconds=2))


def claim(store: Store, *, house_only: bool = False) -> Claim:
    """Claim the next match, which must be there."""
    taken = store.leases.claim("here", "worker", START, RuntimeName.DOCKER, house_only=house_only)
    assert taken is not None
    return taken


def stage(store: Store, id_: str = "u1") -> Stage:
    """Return how far a submission is."""
    found = store.desk.find(id_)
    assert found is not None
    return found.stage


def test_a_submission_goes_from_stage_to_stage(store: Store) -> None:
    """Each stage has its time; in the end there is a version with the note, the size and the digest."""
    store.desk.add(new(), PLENTY)
    qualify(store)
    assert store.bots.find("mine") is None
    assert store.desk.activate("u1", START + timedelta(seconds=3)) == 1
    found = store.desk.find("u1")
    assert found is not None
    assert (found.stage, found.version, found.source) == (Stage.ACTIVE, 1, "sha256:new")
    assert [found.received, found.inspected, found.qualifying, found.ended] == [
        START + timedelta(seconds=second) for second in range(4)
    ]
    assert found.note == "a first try \N{REPLACEMENT CHARACTER}"
    assert store.desk.on_their_way() == ()
    assert [line.bot for line in store.reads.leaderboard()] == ["mine"]
    assert store.writes.rebuild_ratings().differing == 0


def test_a_step_that_comes_twice_changes_nothing(store: Store) -> None:
    """Whoever is killed between two steps may do the last one again; no stage is left out."""
    store.desk.add(new(), PLENTY)
    assert store.desk.activate("u1", START) is None
    store.desk.qualifying("u1", START)
    assert stage(store) is Stage.RECEIVED
    qualify(store)
    store.desk.inspected("u1", "sha256:other", START)
    assert store.desk.activate("u1", START) == 1
    assert store.desk.activate("u1", START) is None
    store.desk.reject("u1", CAUSE, START)
    found = store.desk.find("u1")
    assert found is not None
    assert (found.stage, found.cause, found.source) == (Stage.ACTIVE, None, "sha256:new")
    assert store.reads.totals().bots == 1


def test_a_rejected_submission_says_why(store: Store) -> None:
    """The cause comes back as it was; there is no bot, and nothing waits."""
    store.desk.add(new(), PLENTY)
    store.desk.wait("u1", "no room on the disk")
    assert [each.waiting for each in store.desk.on_their_way()] == ["no room on the disk"]
    store.desk.reject("u1", CAUSE, START)
    found = store.desk.find("u1")
    assert found is not None
    assert (found.stage, found.cause, found.waiting) == (Stage.REJECTED, CAUSE, None)
    assert store.bots.find("mine") is None


def test_a_qualification_is_kept_and_never_rated(store: Store) -> None:
    """Its game is there for its owner; no list, number, rating or log knows of it."""
    house = [add_bot(store, name) for name in "ab"]
    store.desk.add(new(), PLENTY)
    qualify(store)
    assert store.desk.add_game(game("q", "u1", (house[0], None, house[1])), played=0)
    assert not store.desk.add_game(game("r", "u1", (house[0], None)), played=0)
    before = store.reads.leaderboard()
    taken = claim(store)
    assert [(seat.bot, seat.version, seat.number) for seat in taken.seats] == [
        ("a", house[0], 1),
        ("mine", None, 1),
        ("b", house[1], 1),
    ]
    assert taken.spec.seats[1] == "sha256:new"
    done = finished(taken, [(1, 3, 2)])
    assert store.writes.record(done)
    assert not store.writes.record(done)
    assert store.reads.leaderboard() == before
    assert store.reads.games() == ()
    assert store.reads.totals().games == 0
    assert store.reads.game("q-0-0") is None
    assert store.writes.rebuild_ratings().differing == 0
    (kept,) = store.desk.games("u1")
    assert (kept.match, kept.state, kept.seat, kept.game) == ("q-0", MatchState.DONE, 1, "q-0-0")
    assert (kept.report and kept.report.stderr, kept.record) == ("seat 1", done.games[0].record)
    assert store.desk.replay("u1", "q-0-0") == done.games[0].replay
    assert store.desk.replay("u2", "q-0-0") is None


def test_the_queue_plays_what_somebody_waits_for(store: Store) -> None:
    """Qualifications first, then sets for somebody new, then the rest, each in the order of their making."""
    versions = [add_bot(store, name) for name in "ab"]
    store.writes.add_set(new_set("rest", versions, matches=1))
    store.writes.add_set(replace(new_set("soon", versions, matches=1), soon=True))
    store.writes.add_set(replace(new_set("soon2", versions, matches=1), soon=True))
    store.desk.add(new(), PLENTY)
    qualify(store)
    store.desk.add_game(game("q", "u1", (None, versions[0])), played=0)
    assert [claim(store).spec.match for _ in range(4)] == ["q-0", "soon-0", "soon2-0", "rest-0"]


def test_a_submission_is_no_bot_of_the_house(store: Store) -> None:
    """Where strangers' bots must not play its match waits, and nobody's match-making counts it."""
    house = add_bot(store, "a", author="house")
    store.desk.add(new(), PLENTY)
    qualify(store)
    store.desk.add_game(game("q", "u1", (None, house)), played=0)
    assert store.leases.claim("here", "worker", START, RuntimeName.DOCKER, house_only=True) is None
    assert [sum(each.queued.values()) for each in store.reads.candidates()] == [0]
    assert "sha256:new" in store.reads.sources_in_use()


def test_a_game_that_was_put_aside_is_played_anew(store: Store) -> None:
    """Three faults of the arena are no game of the submission's."""
    house = add_bot(store, "a")
    store.desk.add(new(), PLENTY)
    qualify(store)
    store.desk.add_game(game("q", "u1", (None, house)), played=0)
    for _ in range(3):
        taken = claim(store)
        store.leases.void(taken.spec.match, taken.spec.attempt, "no engine", START)
    assert store.desk.add_game(game("r", "u1", (None, house)), played=0)
    assert [(each.state, each.reason) for each in store.desk.games("u1")] == [
        (MatchState.QUARANTINED, "no engine"),
        (MatchState.WAITING, None),
    ]


def test_the_older_version_plays_until_then(store: Store) -> None:
    """Matches with it that were made before stay its own; the new one starts from its rating."""
    store.desk.add(new("u0"), PLENTY)
    qualify(store, "u0", "sha256:old")
    store.desk.activate("u0", START)
    other = add_bot(store, "a")
    (old,) = {each.version for each in store.reads.candidates() if each.bot == "mine"}
    running = claimed(store, [old, other])
    store.desk.add(new("u1"), PLENTY)
    qualify(store)
    store.desk.add_game(game("q", "u1", (None, other)), played=0)
    assert claim(store).seats[0].number == 2
    assert store.desk.activate("u1", START) == 2
    assert store.writes.record(finished(running, [(1, 2)]))
    assert [(seat.bot, seat.version) for seat in store.reads.games()[0].seats] == [("mine", 1), ("a", 1)]
    (mine,) = [line for line in store.reads.leaderboard() if line.bot == "mine"]
    assert (mine.version, mine.games) == (2, 0)


def test_names_belong_to_whoever_had_them_first(store: Store) -> None:
    """Neither somebody else's bot nor one on its way can be taken; one's own can be sent again."""
    add_bot(store, "taken", author="ann")
    with pytest.raises(BotTaken, match="belongs to a bot of ann"):
        store.desk.add(new(bot="taken"), PLENTY)
    store.desk.add(new("u1"), PLENTY)
    with pytest.raises(BotTaken, match="of ben is on its way"):
        store.desk.add(new("u2", author="eve"), PLENTY)
    store.desk.add(new("u3"), PLENTY)
    qualify(store)
    add_bot(store, "mine", author="ann")
    with pytest.raises(BotTaken):
        store.desk.activate("u1", START)
    assert stage(store) is Stage.QUALIFYING


def test_nobody_sends_more_than_the_quota(store: Store) -> None:
    """So many within a day, so many bots, so many of all authors on their way."""
    quota = Quota(submissions_a_day=2, bots=1, on_their_way=3)
    store.desk.add(new("u1"), quota)
    with pytest.raises(QuotaReached, match="ben has 1 bots, and 1 is the most"):
        store.desk.check(new("u2", bot="second"), quota)
    store.desk.add(new("u2"), quota)
    with pytest.raises(QuotaReached, match="ben has sent 2 submissions within a day"):
        store.desk.add(new("u3"), quota)
    tomorrow = replace(new("u3"), received=START + timedelta(days=1))
    store.desk.add(tomorrow, quota)
    with pytest.raises(QuotaReached, match="3 submissions are on their way"):
        store.desk.add(new("u4", bot="other", author="ann"), quota)
    assert [each.id for each in store.desk.newest(limit=2)] == ["u3", "u2"]
    assert [each.id for each in store.desk.newest(before=2)] == ["u1"]


def test_a_quota_says_how_long_it_lasts(store: Store) -> None:
    """Until the oldest submission of the day is a day old; what no time mends says nothing of it."""
    quota = Quota(submissions_a_day=3, bots=1, on_their_way=4)
    for hour in range(3):
        store.desk.add(replace(new(f"u{hour}"), received=START + timedelta(hours=hour)), quota)

    def wait(new: NewSubmission, quota: Quota) -> timedelta | None:
        with pytest.raises(QuotaReached) as refused:
            store.desk.check(new, quota)
        return refused.value.wait

    late = replace(new("u3"), received=START + timedelta(hours=5))
    assert wait(late, quota) == timedelta(hours=19)
    assert wait(late, replace(quota, submissions_a_day=1)) == timedelta(hours=21)
    assert wait(late, replace(quota, submissions_a_day=0)) is None
    tomorrow = START + timedelta(hours=24)
    store.desk.check(replace(late, received=tomorrow), quota)
    assert wait(replace(late, received=tomorrow, bot="other"), quota) is None
    assert wait(replace(late, received=tomorrow), replace(quota, on_their_way=3)) is None


def test_the_same_file_makes_no_new_version(store: Store) -> None:
    """Neither while it is on its way nor afterwards, and the words say what became of it."""
    one, other = new("u1"), new("u2")
    store.desk.add(one, PLENTY)
    again = replace(one, id="u9")
    with pytest.raises(SameContent, match="on its way already, as submission u1 of mine"):
        store.desk.add(again, PLENTY)
    store.desk.check(replace(again, bot="second"), PLENTY)
    store.desk.reject("u1", CAUSE, START)
    store.desk.add(replace(one, id="u1b"), PLENTY)
    qualify(store, "u1b", "sha256:1")
    store.desk.activate("u1b", START)
    with pytest.raises(SameContent, match="the same file as mine@1, which plays already"):
        store.desk.check(again, PLENTY)
    with pytest.raises(SameContent, match="the same file"):  # there is room for no other file either
        store.desk.check(again, replace(PLENTY, submissions_a_day=0))
    store.bots.retire("mine", START)
    with pytest.raises(SameContent, match="the same file as mine@1, which is retired"):
        store.desk.check(again, PLENTY)
    store.desk.add(other, PLENTY)
    qualify(store, "u2", "sha256:2")
    store.desk.activate("u2", START)
    with pytest.raises(SameContent, match="the same file as mine@1, and mine@2 plays in its place"):
        store.desk.check(again, PLENTY)
    assert store.desk.same_image("mine", "sha256:2") == "mine@2, which plays already"
    assert store.desk.same_image("mine", "sha256:3") is None
    store.bots.note_gone({"sha256:2"}, START)  # the images that are left
    store.desk.check(again, PLENTY)
    assert store.desk.same_image("mine", "sha256:1") is None
    assert [each.id for each in store.desk.newest()] == ["u2", "u1b", "u1"]


def test_somebody_is_told_what_may_still_be_sent(store: Store) -> None:
    """Counted as a file would be; what an operator has set for an account goes before the arena's own."""
    owner = store.people.register(
        NewAccount(name="ben", password="hash", role=Role.USER, created=START)  # noqa: S106 - no password
    )
    quota = Quota(submissions_a_day=2, bots=3, on_their_way=9)
    for number in range(2):
        store.desk.add(new(f"u{number}", account=owner.id), quota)
    store.desk.reject("u1", CAUSE, START)
    now = store.desk.allowance("ben", owner.id, quota, START)
    assert now == Allowance(sent=2, submissions_a_day=2, bots=1, most_bots=3)
    assert now.left == 0
    later = store.desk.allowance("ben", owner.id, quota, START + timedelta(days=1))
    assert later.left == 2
    entry = NewAuditEntry(at=START, who="terminal:test", what="quota", subject="account:ben")
    store.people.set_quota(owner.id, AccountQuota(submissions_a_day=1), entry)
    assert store.desk.allowance("ben", owner.id, quota, START) == replace(now, submissions_a_day=1)


def test_a_deleted_account_leaves_no_name(store: Store) -> None:
    """Its submissions and their replays have the pseudonym, and what was on its way ends."""
    house = add_bot(store, "a", author="house")
    owner = store.people.register(
        NewAccount(name="ben", password="hash", role=Role.USER, created=START)  # noqa: S106 - no password
    )
    store.desk.add(new(account=owner.id), PLENTY)
    qualify(store)
    store.desk.add_game(game("q", "u1", (None, house)), played=0)
    taken = claim(store)
    store.writes.record(finished(taken, [(1, 2)]))
    store.people.delete(owner.id, "gone-1", START)
    found = store.desk.find("u1")
    assert found is not None
    assert (found.author, found.stage) == ("gone-1", Stage.REJECTED)
    assert found.cause is not None
    assert found.cause.kind is CauseKind.WITHDRAWN
    assert '"author":"gone-1"' in (store.desk.replay("u1", "q-0-0") or "")


def test_an_older_database_keeps_its_matches(url: str) -> None:
    """Down and up again with matches, games and a queue in it; what was not rated is gone, the rest stays."""
    store = open_store(url)
    versions = [add_bot(store, name) for name in "ab"]
    assert store.writes.record(finished(claimed(store, versions), [(1, 2)]))
    store.writes.add_set(new_set("t", versions, matches=1))
    store.desk.add(new(), PLENTY)
    qualify(store)
    store.desk.add_game(game("q", "u1", (None, versions[0])), played=0)
    assert store.writes.record(finished(claim(store), [(1, 2)]))
    kept = (store.reads.leaderboard(), store.reads.games(), store.reads.totals())
    store.close()
    database = Database(url)
    with database.write() as connection:
        command.downgrade(alembic_config(connection), "0003")
        assert connection.execute(text("SELECT count(*) FROM match")).scalar_one() == 2
    database.close()
    again = open_store(url)
    assert (again.reads.leaderboard(), again.reads.games(), again.reads.totals()) == kept
    assert again.desk.newest() == ()
    assert claim(again).spec.match == "t-0"
    assert again.writes.rebuild_ratings().differing == 0
    again.close()
