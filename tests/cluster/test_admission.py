"""Which workers a coordinator uses: none that does not hold strangers' bots."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from arena import __version__
from arena.admission import Gate
from arena.bootstrap.cluster import admit_worker
from arena.cluster.messages import Card, State
from arena.cluster.rooms import Member
from arena.match import RuntimeName
from arena.store import Store, open_store
from tests.builders import host_report


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Give an empty store."""
    with closing(open_store(f"sqlite:///{tmp_path / 'arena.sqlite3'}")) as store:
        yield store


def worker(
    report: bytes, *accepted: str, runtime: RuntimeName = RuntimeName.DOCKER, version: str = __version__
) -> Member:
    """Return a worker that says this of its host."""
    card = Card(
        run="r",
        name="w",
        host="h",
        seats=5,
        cpus=0.4,
        runtime=runtime,
        report=report,
        accepted=accepted,
        version=version,
    )
    return Member(address="tls://w", card=card, state=State(busy={}))


def test_a_host_that_holds_everything_opens_the_gate(store: Store) -> None:
    """Also where its operator accepts by name what it does not hold; the report is kept."""
    gate = Gate()
    assert admit_worker(worker(msgspec.json.encode(host_report())), RuntimeName.DOCKER, store, gate)
    assert not gate.house_only
    lacking = worker(msgspec.json.encode(host_report("swap", host="b")), "swap")
    assert admit_worker(lacking, RuntimeName.DOCKER, store, gate)
    assert {status.report.host for status in store.reads.hosts()} == {"ohanami", "b"}


def test_a_host_that_does_not_hold_strangers_is_not_used_whatever_the_gate(store: Store) -> None:
    """Its report is kept all the same, so that the status shows what it lacks."""
    gate = Gate()
    assert not admit_worker(worker(msgspec.json.encode(host_report("swap"))), RuntimeName.DOCKER, store, gate)
    assert gate.house_only
    (status,) = store.reads.hosts()
    assert status.unaccepted


def test_plain_processes_are_used_for_plain_processes_alone(store: Store) -> None:
    """And open no gate: nothing is isolated there."""
    gate = Gate()
    plain = worker(msgspec.json.encode(host_report(isolates=False)), runtime=RuntimeName.PROCESS)
    assert not admit_worker(plain, RuntimeName.DOCKER, store, gate)
    assert admit_worker(plain, RuntimeName.PROCESS, store, gate)
    assert gate.house_only


def test_a_report_that_nobody_can_read_is_none(store: Store) -> None:
    """Nothing is kept of it."""
    assert not admit_worker(worker(b"{}"), RuntimeName.DOCKER, store, Gate())
    assert store.reads.hosts() == ()


def test_a_worker_of_another_version_is_not_used(store: Store) -> None:
    """What it plays by, and what it says of its host, may mean something else; so nothing of it is kept."""
    gate = Gate()
    assert not admit_worker(
        worker(msgspec.json.encode(host_report()), version="0.0.9"), RuntimeName.DOCKER, store, gate
    )
    assert gate.house_only
    assert store.reads.hosts() == ()
