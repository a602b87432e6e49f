"""Tests of workers that report falsehoods, which cost no match and hinder no other worker."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

from arena.app.cluster import refusal
from arena.app.folders import utc_now
from arena.db.store import Store
from arena.protocol.match import RuntimeName
from arena.protocol.sandbox_controls import Gate
from arena.scheduler.cluster.link import Link
from arena.scheduler.cluster.member import address_of, security_of
from arena.scheduler.cluster.messages import WorkerCard, WorkerState, read, write
from arena.scheduler.cluster.workers import ClusterWorkers
from tests.cli.command import arena
from tests.patience import wait_until
from tests.scheduler.cluster import liar
from tests.scheduler.cluster.hosts import Hosts, hosts, keys
from tests.scheduler.cluster.liar import NAME, SEATS
from tests.scheduler.cluster.runs import Notes, coordinate, queue_up
from tests.soak import many

MATCHES = many(8, 24)

CARD = WorkerCard(run="r", name="w", host="h", seats=5, cpus=0.4, runtime=RuntimeName.PROCESS, report=b"{}")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Hosts]:
    """Yield a cluster with two honest workers."""
    with hosts(workers=2) as cluster:
        yield cluster


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Return the address of a database."""
    return f"sqlite:///{tmp_path / 'arena.sqlite3'}"


def doubted(store: Store) -> set[str]:
    """Return the names of the workers on probation."""
    return {known.status.name for known in store.leases.workers() if known.status.doubted}


def workers_of(cluster: Hosts, store: Store, now: Callable[[], datetime]) -> ClusterWorkers:
    """Return the workers as seen by a coordinator that decides whether to admit each new one."""
    shown, gate = keys(cluster.keys, "coordinator"), Gate()
    address, security = address_of("127.0.0.1", cluster.port, shown), security_of(shown)
    return ClusterWorkers(
        lambda session, heard: Link(address, security, session, heard),
        lambda member: refusal(member, cluster.settings().sandbox, store, gate),
        now,
    )


def test_false_records_quarantine_no_match_but_put_their_worker_on_probation(
    cluster: Hosts, store: Store, url: str, tmp_path: Path
) -> None:
    """Other workers play the matches that a lying worker voids.

    At first it gets as many matches as it has seats for, then one per minute.
    """
    cluster.start("records", "records", key="worker", program=liar.main)
    wait_until(lambda: "has joined" in cluster.log("records"))
    queue_up(store, MATCHES)
    shown = []

    def over(finished: int) -> None:
        if finished == MATCHES:
            wait_until(lambda: doubted(store) == {NAME})
            shown.append(arena("workers", folder=tmp_path, ARENA_DATABASE_URL=url).stdout)

    notes, begun = Notes(over), time.monotonic()
    coordinate(cluster, store, notes)
    assert (notes.finished, notes.lost, notes.quarantined) == (MATCHES, [], 0)
    assert all(f"worker {NAME}: the record is for match another" in why for why in notes.voided)
    assert max(Counter(why.partition(":")[0] for why in notes.voided).values()) < 3
    assert 1 <= len(notes.voided) <= SEATS // 2 + (time.monotonic() - begun) // 60
    lines = {line.split()[0]: line.split() for line in shown[0].splitlines()}
    assert {name for name, words in lines.items() if words[-1] == "probation"} == {NAME}
    cluster.kill("records")


def test_a_report_that_can_not_be_stored_affects_only_its_worker(cluster: Hosts, store: Store) -> None:
    """The worker is refused, which is logged once. The coordinator still sees others join and leave."""
    cluster.start("report", "report", key="worker", program=liar.main)
    wait_until(lambda: "has joined" in cluster.log("report"))
    workers = workers_of(cluster, store, utc_now)

    def seen() -> int:
        workers.poll()
        return len(workers.status())

    with closing(workers), capture_logs() as log:
        wait_until(lambda: seen() == 2)
        cluster.kill("worker1")
        wait_until(lambda: seen() == 1)
        workers.poll()
    refused = [entry["worker"] for entry in log if entry["event"].startswith("worker rejected")]
    assert refused == [NAME]
    cluster.kill("report")


def test_refused_workers_are_listed_until_they_leave(cluster: Hosts, store: Store) -> None:
    """The list has the reason and the time of each refusal, even if the worker's card can't be read."""
    for what in ("format", "card"):
        cluster.start(what, what, key="worker", program=liar.main)
        wait_until(lambda: "has joined" in cluster.log(what))  # noqa: B023 - called immediately
    moments = count(1)
    workers = workers_of(cluster, store, lambda: datetime(2026, 1, 1, 0, next(moments), tzinfo=UTC))

    def refused() -> list[str]:
        workers.poll()
        return [worker.name for worker in workers.refused()]

    with closing(workers):
        wait_until(lambda: refused() == ["card", "format"])
        before = workers.refused()
        assert before[0].reason.startswith("its card or state can't be read: ")
        assert before[1].reason.startswith("it plays matches in format ")
        assert before[1].host == NAME
        workers.poll()
        assert workers.refused() == before
        cluster.kill("format")
        wait_until(lambda: refused() == ["card"])
    cluster.kill("card")


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "n" * 65},
        {"name": ""},
        {"host": "a\0b"},
        {"seats": 0},
        {"seats": 10**9},
        {"cpus": float("nan")},
    ],
    ids=repr,
)
def test_an_impossible_card_is_refused(wrong: dict[str, object]) -> None:
    """A card is refused if its values could not be stored."""
    assert read(write(CARD), WorkerCard) == CARD
    with pytest.raises(ValueError, match=next(iter(wrong))):
        read(write(msgspec.structs.replace(CARD, **wrong)), WorkerCard)


def test_a_negative_number_of_busy_seats_is_refused() -> None:
    """A negative number of busy seats would give a worker more free seats than seats."""
    with pytest.raises(ValueError, match="busy"):
        read(write(WorkerState(busy={"another": -3})), WorkerState)
