"""Workers that say what is not so: they cost no match, and nobody else the coordinator's attention."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

from arena.admission import Gate
from arena.bootstrap.cluster import admit_worker
from arena.cluster.addresses import Keys, address_of, security_of
from arena.cluster.link import Link
from arena.cluster.messages import Card, State, read_card, read_state, write
from arena.cluster.workers import ClusterWorkers
from arena.match import RuntimeName
from arena.store import Store, open_store
from tests.cli.command import arena
from tests.cluster.hosts import Hosts, hosts, wait_until
from tests.cluster.liar import NAME, SEATS
from tests.cluster.runs import Notes, coordinate, queue_up

MATCHES = 24

CARD = Card(run="r", name="w", host="h", seats=5, cpus=0.4, runtime=RuntimeName.PROCESS, report=b"{}")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Hosts]:
    """Give a cluster with two workers that are as they should be."""
    with hosts(workers=2) as cluster:
        yield cluster


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Give the address of a database."""
    return f"sqlite:///{tmp_path / 'arena.sqlite3'}"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """Give an empty store."""
    with closing(open_store(url)) as store:
        yield store


def doubted(store: Store) -> set[str]:
    """Return the names of the workers that are doubted."""
    return {known.status.name for known in store.leases.workers() if known.status.doubted}


def test_untrue_records_put_no_match_aside_and_their_worker_is_doubted(
    cluster: Hosts, store: Store, url: str, tmp_path: Path
) -> None:
    """Others play what it has spoilt. At first it is given what it has seats for, then one match a minute."""
    cluster.start("records", "records", key="worker", program="tests.cluster.liar")
    wait_until(lambda: "plays for" in cluster.log("records"))
    queue_up(store, MATCHES)
    shown = []

    def over(finished: int) -> None:
        if finished == MATCHES:
            wait_until(lambda: doubted(store) == {NAME})
            shown.append(arena("workers", folder=tmp_path, ARENA_DATABASE_URL=url).stdout.decode())

    notes, begun = Notes(over), time.monotonic()
    coordinate(cluster, store, notes)
    assert (notes.finished, notes.lost, notes.quarantined) == (MATCHES, [], 0)
    assert all(f"worker {NAME}: the record is of match another" in why for why in notes.voided)
    assert max(Counter(why.partition(":")[0] for why in notes.voided).values()) < 3
    assert 1 <= len(notes.voided) <= SEATS // 2 + (time.monotonic() - begun) // 60
    lines = {line.split()[0]: line.split() for line in shown[0].splitlines()}
    assert {name for name, words in lines.items() if words[-1] == "doubted"} == {NAME}
    cluster.kill("records")


def test_a_report_that_cannot_be_kept_costs_its_worker_alone(cluster: Hosts, store: Store) -> None:
    """It is refused and that is logged, once; of others it is seen that they are there, and that they go."""
    cluster.start("report", "report", key="worker", program="tests.cluster.liar")
    wait_until(lambda: "plays for" in cluster.log("report"))
    settings, gate = cluster.settings(), Gate()
    member = cluster.keys / "coordinator"
    keys = Keys(ca=member / "ca.pem", cert=member / "member.pem", key=member / "member.key")
    address = address_of("127.0.0.1", cluster.port, keys)
    workers = ClusterWorkers(
        lambda session, heard: Link(address, security_of(keys), session, heard),
        lambda member: admit_worker(member, settings.sandbox, store, gate),
    )

    def seen() -> int:
        workers.look()
        return len(workers.status())

    with closing(workers), capture_logs() as log:
        wait_until(lambda: seen() == 2)
        cluster.kill("worker1")
        wait_until(lambda: seen() == 1)
        workers.look()
    refused = [entry["worker"] for entry in log if entry["event"].startswith("worker refused")]
    assert refused == [NAME]
    cluster.kill("report")


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
def test_a_card_that_says_what_cannot_be_is_none(wrong: dict[str, object]) -> None:
    """Nobody could write it down."""
    assert read_card(write(CARD)) == CARD
    with pytest.raises(ValueError, match=next(iter(wrong))):
        read_card(write(msgspec.structs.replace(CARD, **wrong)))


def test_nobody_has_fewer_than_no_seats_taken() -> None:
    """It would have more room than seats."""
    with pytest.raises(ValueError, match="busy"):
        read_state(write(State(busy={"another": -3})))
