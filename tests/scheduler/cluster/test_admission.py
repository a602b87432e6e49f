"""Tests of the admission of workers, whose hosts must pass the controls for untrusted bots."""

import msgspec
import pytest

from arena import __version__
from arena.app.cluster import refusal
from arena.db.store import Store
from arena.protocol.match import FORMAT, RuntimeName
from arena.protocol.sandbox_controls import Gate
from arena.scheduler.cluster.capacity import ClusterMember
from arena.scheduler.cluster.messages import WorkerCard, WorkerState
from tests.builders import host_report


def worker(
    report: bytes,
    *accepted: str,
    runtime: RuntimeName = RuntimeName.DOCKER,
    version: str = __version__,
    format: int = FORMAT,  # noqa: A002 - the card's own name for it
) -> ClusterMember:
    """Return a worker with this report on its host."""
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


def test_a_host_that_passes_all_controls_opens_the_gate(store: Store) -> None:
    """A failing control that the operator accepts by name counts as passed. The reports are stored."""
    gate = Gate()
    assert not refusal(worker(msgspec.json.encode(host_report())), RuntimeName.DOCKER, store, gate)
    assert not gate.house_only
    lacking = worker(msgspec.json.encode(host_report("swap", host="b")), "swap")
    assert not refusal(lacking, RuntimeName.DOCKER, store, gate)
    assert {status.report.host for status in store.activity.hosts()} == {"ohanami", "b"}


def test_a_host_that_fails_a_control_is_not_used(store: Store) -> None:
    """The host's report is still stored, so that the status page shows what the host lacks."""
    gate = Gate()
    assert refusal(worker(msgspec.json.encode(host_report("swap"))), RuntimeName.DOCKER, store, gate)
    assert gate.house_only
    (status,) = store.activity.hosts()
    assert status.unaccepted


def test_plain_processes_are_used_only_for_plain_processes(store: Store) -> None:
    """Plain processes isolate nothing, so they don't open the gate.

    The report of a worker with another runtime isn't stored, because a new report of a host without isolation
    would stop uploads and challenges.
    """
    gate = Gate()
    plain = worker(msgspec.json.encode(host_report(isolates=False)), runtime=RuntimeName.PROCESS)
    assert refusal(plain, RuntimeName.DOCKER, store, gate)
    assert store.activity.hosts() == ()
    assert not refusal(plain, RuntimeName.PROCESS, store, gate)
    assert gate.house_only


def test_an_unreadable_report_is_refused(store: Store) -> None:
    """Nothing of an unreadable report is stored."""
    assert refusal(worker(b"{}"), RuntimeName.DOCKER, store, Gate())
    assert store.activity.hosts() == ()


def test_a_worker_of_another_version_is_not_used(store: Store) -> None:
    """Data from another version may have a different meaning, so none of it is stored."""
    gate = Gate()
    assert refusal(
        worker(msgspec.json.encode(host_report()), version="0.0.9"), RuntimeName.DOCKER, store, gate
    )
    assert gate.house_only
    assert store.activity.hosts() == ()


@pytest.mark.parametrize("other", [0, FORMAT - 1, FORMAT + 1])
def test_a_worker_of_the_same_version_and_other_code_is_not_used(store: Store, other: int) -> None:
    """Other code would ignore unknown fields of a match's specification, and seat bots wrongly."""
    gate = Gate()
    stale = worker(msgspec.json.encode(host_report()), format=other)
    assert refusal(stale, RuntimeName.DOCKER, store, gate)
    assert gate.house_only
    assert store.activity.hosts() == ()
