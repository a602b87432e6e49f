"""Which workers a coordinator uses: none that does not hold untrusted bots."""

import msgspec
import pytest

from arena import __version__
from arena.app.cluster import refusal
from arena.db.store import Store
from arena.protocol.controls import Gate
from arena.protocol.match import FORMAT, RuntimeName
from arena.scheduler.cluster.capacity import ClusterMember
from arena.scheduler.cluster.messages import WorkerCard, WorkerState
from tests.builders import host_report


def worker(
    report: bytes,
    *accepted: str,
    runtime: RuntimeName = RuntimeName.DOCKER,
    version: str = __version__,
    format: int = FORMAT,  # noqa: A002 - as the card has it
) -> ClusterMember:
    """Return a worker that says this of its host."""
    card = WorkerCard(
        run="r",
        name="w",
        host="h",
        seats=5,
        cpus=0.4,
        runtime=runtime,
        report=report,
        accepted=accepted,
        version=version,
        format=format,
    )
    return ClusterMember(address="tls://w", card=card, state=WorkerState(busy={}))


def test_a_host_that_holds_everything_opens_the_gate(store: Store) -> None:
    """Also where its operator accepts by name what it does not hold; the report is kept."""
    gate = Gate()
    assert not refusal(worker(msgspec.json.encode(host_report())), RuntimeName.DOCKER, store, gate)
    assert not gate.house_only
    lacking = worker(msgspec.json.encode(host_report("swap", host="b")), "swap")
    assert not refusal(lacking, RuntimeName.DOCKER, store, gate)
    assert {status.report.host for status in store.activity.hosts()} == {"ohanami", "b"}


def test_a_host_that_does_not_hold_strangers_is_not_used_whatever_the_gate(store: Store) -> None:
    """Its report is kept all the same, so that the status shows what it lacks."""
    gate = Gate()
    assert refusal(worker(msgspec.json.encode(host_report("swap"))), RuntimeName.DOCKER, store, gate)
    assert gate.house_only
    (status,) = store.activity.hosts()
    assert status.unaccepted


def test_plain_processes_are_used_for_plain_processes_alone(store: Store) -> None:
    """And open no gate: nothing is isolated there."""
    gate = Gate()
    plain = worker(msgspec.json.encode(host_report(isolates=False)), runtime=RuntimeName.PROCESS)
    assert refusal(plain, RuntimeName.DOCKER, store, gate)
    assert not refusal(plain, RuntimeName.PROCESS, store, gate)
    assert gate.house_only


def test_a_report_that_nobody_can_read_is_none(store: Store) -> None:
    """Nothing is kept of it."""
    assert refusal(worker(b"{}"), RuntimeName.DOCKER, store, Gate())
    assert store.activity.hosts() == ()


def test_a_worker_of_another_version_is_not_used(store: Store) -> None:
    """What it plays by, and what it says of its host, may mean something else; so nothing of it is kept."""
    gate = Gate()
    assert refusal(
        worker(msgspec.json.encode(host_report()), version="0.0.9"), RuntimeName.DOCKER, store, gate
    )
    assert gate.house_only
    assert store.activity.hosts() == ()


@pytest.mark.parametrize("other", [0, FORMAT - 1, FORMAT + 1])
def test_a_worker_of_the_same_version_and_other_code_is_not_used(store: Store, other: int) -> None:
    """It would pass over what it doesn't know in a specification, and seat bots wrongly."""
    gate = Gate()
    stale = worker(msgspec.json.encode(host_report()), format=other)
    assert refusal(stale, RuntimeName.DOCKER, store, gate)
    assert gate.house_only
    assert store.activity.hosts() == ()
