"""Tests of workers' free capacity, computed from their heartbeats and the matches given to them."""

from itertools import permutations
from pathlib import Path

from arena.play.launcher.slots import SlotPool
from arena.protocol.match import RuntimeName, WorkerStatus
from arena.sandbox.process.runtime import ProcessRuntime
from arena.scheduler.cluster.capacity import ClusterCapacity, ClusterMember
from arena.scheduler.cluster.host import MatchRunner
from arena.scheduler.cluster.messages import NO_SESSION, WorkerCard, WorkerState


def member(name: str, *, run: str = "", seats: int = 5, state: WorkerState | None = None) -> ClusterMember:
    """Return a worker."""
    card = WorkerCard(
        run=run or name,
        name=name,
        host="h",
        seats=seats,
        cpus=0.4,
        runtime=RuntimeName.PROCESS,
        report=b"{}",
    )
    return ClusterMember(address=f"tls://{name}", card=card, state=state or WorkerState(busy={}))


def rooms(*members: ClusterMember) -> ClusterCapacity:
    """Return the capacity of these workers, as seen by a coordinator's session."""
    made = ClusterCapacity("mine")
    made.update(members)
    return made


def taken(where: ClusterCapacity, seats: int, now: float = 0.0) -> str | None:
    """Take seats, and return the name of the worker that has them, if any."""
    found = where.reserve(seats, now)
    return None if found is None else found.card.name


def test_the_worker_with_most_room_is_taken_until_none_has_enough() -> None:
    """No worker gets more matches than it has seats for, so matches wait only in the database."""
    where = rooms(member("a", seats=5), member("b", seats=8))
    assert [taken(where, 3) for _ in range(4)] == ["b", "a", "b", None]
    assert taken(where, 2) in {"a", "b"}


def test_a_coordinator_knows_its_own_matches_better_than_a_heartbeat() -> None:
    """A heartbeat may still count an ended match, so it is used only for other coordinators' matches."""
    stale = member("a", state=WorkerState(busy={"mine": 4, "others": 2}))
    where = rooms(stale)
    assert where.status() == (WorkerStatus(name="a", host="h", seats=5, busy=2),)
    assert taken(where, 4) is None
    assert taken(where, 3) == "a"


def test_a_worker_on_a_busy_host_is_given_what_it_can_use() -> None:
    """An idle worker with a usable seat always gets a whole table. One without any gets nothing."""
    where = rooms(member("a", seats=10, state=WorkerState(busy={}, usable=6)))
    assert [taken(where, seats) for seats in (3, 4, 3, 1)] == ["a", None, "a", None]
    assert where.status()[0].usable == 6
    assert taken(rooms(member("a", state=WorkerState(busy={}, usable=1))), 5) == "a"
    assert taken(rooms(member("a", state=WorkerState(busy={"others": 2}, usable=1))), 2) is None
    assert taken(rooms(member("a", state=WorkerState(busy={}, usable=0))), 2) is None


def test_a_seat_whose_sandbox_could_not_be_removed_is_in_use(run_dir: Path) -> None:
    """No match is sent for it, and the status page shows it as in use."""
    slots = SlotPool(5, 0.4)
    runner = MatchRunner(ProcessRuntime(), "test", run_dir, slots)
    reserved = slots.reserve(2)
    assert reserved is not None
    slots.keep(reserved[0], "sandbox")
    slots.release(reserved)
    where = rooms(member("a", state=runner.state()))
    assert where.status() == (WorkerStatus(name="a", host="h", seats=5, busy=1),)
    assert taken(where, 5) is None
    assert taken(where, 4) == "a"
    # But it is no match, so an otherwise idle worker may use all other seats, however busy its host is.
    crowded = WorkerState(busy={NO_SESSION: 1}, usable=2)
    assert taken(rooms(member("a", state=crowded)), 5) is None
    assert taken(rooms(member("a", state=crowded)), 4) == "a"
    assert (
        taken(rooms(member("a", seats=10, state=WorkerState(busy={NO_SESSION: 1, "others": 2}, usable=4))), 3)
        is None
    )


def test_a_worker_with_a_full_disk_gets_no_matches(run_dir: Path) -> None:
    """It gets matches again when there is room."""
    room = False
    runner = MatchRunner(ProcessRuntime(), "test", run_dir, SlotPool(5, 0.4), has_room=lambda: room)
    runner.poll()
    assert "disk is full" in (runner.state().trouble or "")
    assert taken(rooms(member("a", state=runner.state())), 2) is None
    room = True
    runner.poll()
    assert runner.state().trouble is None
    assert taken(rooms(member("a", state=runner.state())), 2) == "a"


def test_given_seats_outlast_heartbeats_and_go_with_the_worker() -> None:
    """A restarted worker counts as another run, with all of its seats free."""
    where = rooms(member("a"))
    assert taken(where, 5) == "a"
    where.update([member("a")])
    assert taken(where, 2) is None
    where.update([member("a", run="again")])
    assert taken(where, 5) == "a"
    where.release("a", 5)  # for the earlier run
    assert taken(where, 2) is None
    where.release("again", 5)
    assert taken(where, 5) == "a"


def test_a_worker_that_was_lost_from_sight_is_not_less_than_idle() -> None:
    """After a worker disappears and returns, the end of an earlier match doesn't lower its count."""
    where = rooms(member("a"))
    assert taken(where, 5) == "a"
    where.update([])
    where.update([member("a")])
    where.mark_answered("a", 5)
    assert where.status()[0].busy == 0
    assert [taken(where, 5), taken(where, 1)] == ["a", None]


def test_a_match_keeps_its_seats_until_it_was_answered_and_judged() -> None:
    """Seats are free once the match is answered and checked, so checks precede the next match."""
    where = rooms(member("a", seats=5))
    for first, second in permutations((where.mark_answered, where.mark_checked)):
        assert taken(where, 4) == "a"
        first("a", 4)
        assert taken(where, 2) is None
        second("a", 4)
    assert taken(where, 5) == "a"
    where.update([])
    where.update([member("a", seats=5)])  # the worker had disappeared, and the match was given up
    where.mark_checked("a", 5)
    assert taken(where, 5) == "a"
    assert taken(where, 2) is None


def test_workers_that_leave_have_trouble_or_rest_get_nothing() -> None:
    """Leaving, failing and resting workers get no matches, whatever seats they have free."""
    where = rooms(
        member("leaves", state=WorkerState(busy={}, leaving=True)),
        member("ill", state=WorkerState(busy={}, trouble="no engine")),
        member("rests"),
    )
    where.back_off("rests", now=6.0)
    assert taken(where, 2, now=9.0) is None
    assert taken(where, 2, now=10.0) == "rests"
    where.abandon("rests")
    where.back_off("rests", now=10.0)
    assert taken(where, 2, now=1e9) is None


def test_each_failure_in_a_row_lengthens_the_backoff_of_a_worker() -> None:
    """Failures during a backoff restart it without lengthening it. A valid match resets the count."""
    where, now = rooms(member("a", seats=2)), 100.0

    def fails(delay: float) -> None:
        nonlocal now
        for _ in range(2):
            where.back_off("a", now)
            now += delay - 0.5
            assert taken(where, 2, now) is None
        now += 0.5
        assert taken(where, 2, now) == "a"
        where.release("a", 2)

    for delay in (4, 8, 16, 30, 30):
        fails(delay)
    where.trust("a")
    fails(4)


def test_the_reason_why_no_worker_accepts_matches_is_known() -> None:
    """No reason is given as long as any worker accepts matches, even if it is full or in backoff."""
    leaves = member("leaves", state=WorkerState(busy={}, leaving=True))
    ill = member("ill", state=WorkerState(busy={}, trouble="no engine"))
    assert rooms().unavailable_reason() == "no admitted worker is connected"
    assert (
        rooms(leaves, ill).unavailable_reason()
        == "no worker accepts matches: ill: no engine, leaves: leaving"
    )
    where = rooms(leaves, member("full", seats=2))
    assert taken(where, 2) == "full"
    where.back_off("full", now=0.0)
    assert where.unavailable_reason() is None


def test_a_worker_on_probation_gets_only_what_others_can_not_play() -> None:
    """A worker on probation could otherwise void a match so often that it is quarantined.

    After the probation time, the worker gets one match at a time. After a valid record it is trusted again.
    """
    where = rooms(member("a", seats=2), member("b", seats=8))
    where.put_on_probation("b", until=60.0)
    where.back_off("a", now=0.0)
    assert taken(where, 2, now=3.9) is None
    assert taken(where, 3, now=4.0) == "b"  # the other worker never has this many seats
    where.release("b", 3)
    assert taken(where, 2, now=4.0) == "a"
    assert taken(where, 2, now=4.0) is None
    assert taken(where, 2, now=60.0) == "b"
    where.mark_answered("b", 2)
    assert taken(where, 2, now=60.0) is None
    assert [worker.doubted for worker in where.status()] == [False, True]
    where.mark_checked("b", 2)
    where.trust("b")
    assert [taken(where, 2, now=60.0) for _ in range(2)] == ["b", "b"]
    assert [worker.doubted for worker in where.status()] == [False, False]
    where.update([member("b", seats=8)])
    where.put_on_probation("b", until=120.0)
    assert taken(where, 2, now=62.0) == "b"  # no other worker is left


def test_no_match_waits_for_a_worker_that_accepts_none() -> None:
    """A worker on probation plays at once if the others have trouble, are leaving or have been abandoned."""
    full = member("full", state=WorkerState(busy={}, trouble="the disk is full"))
    leaving = member("leaving", state=WorkerState(busy={}, leaving=True))
    for others in ([full], [leaving], [member("abandoned")]):
        where = rooms(*others, member("doubted"))
        where.abandon("abandoned")
        where.put_on_probation("doubted", until=60.0)
        assert taken(where, 2, now=1.0) == "doubted"
