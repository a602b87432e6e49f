"""Tests of a cluster's members: certificates, joining, leaving and losses."""

import gc
import os
import resource
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import httpx2
import pytest
from cryptography import x509
from prometheus_client.parser import text_string_to_metric_families

from arena.app.folders import utc_now
from arena.play.botfiles import samples
from arena.play.launcher import LauncherStopped, MatchVoid
from arena.protocol.match import Clock, MatchRecord, MatchSpec, Progress, RuntimeName, decode, encode
from arena.scheduler.cluster.certificates import CertificateError, make_keys
from arena.scheduler.cluster.link import Link, SchedulerUnreachable
from arena.scheduler.cluster.member import Keys, WrongCluster, address_of, security_of
from arena.scheduler.cluster.workers import ClusterReservation, ClusterWorkers, cluster_workers
from arena.scheduler.workers import WorkerLost
from tests.builders import match_spec
from tests.databases import sqlite_store
from tests.patience import WAIT_SECONDS, wait_until, within
from tests.ports import free_port
from tests.scheduler.cluster.hosts import Hosts, hosts, keys, work_and_name_threads
from tests.scheduler.cluster.runs import Notes, coordinate, queue_up

SLOW = '''"""Takes its time, and the first move there is."""

import time

from arena.sdk import run


def choose(view):
    """Choose."""
    time.sleep(0.05)
    return view.legal_moves()[0]


run(choose)
'''


@pytest.fixture(scope="module")
def cluster() -> Iterator[Hosts]:
    """Yield a cluster with one worker."""
    with hosts(workers=1) as cluster:
        yield cluster


@pytest.fixture
def slow(tmp_path: Path) -> str:
    """Return the folder of a bot that needs several seconds per game."""
    (tmp_path / "bot.py").write_text(SLOW)
    return str(tmp_path)


def spec(source: str, *, deals: int = 1) -> MatchSpec:
    """Return a specification of a match between a bot and itself."""
    clock = Clock(start_millis=60_000, move_millis=30_000)
    return match_spec((source, source), games=deals, clock=clock, runtime=RuntimeName.PROCESS)


def link(cluster: Hosts, shown: Keys | None, session: str = "s") -> Link:
    """Connect to a cluster's scheduler with these keys."""
    return Link(
        address_of("127.0.0.1", cluster.port, shown), security_of(shown), session, lambda _ticket, _data: None
    )


def members(cluster: Hosts) -> AbstractContextManager[ClusterWorkers]:
    """Return the workers as a coordinator sees them."""
    shown = keys(cluster.keys, "coordinator")
    address, security = address_of("127.0.0.1", cluster.port, shown), security_of(shown)
    return cluster_workers(
        lambda session, heard: Link(address, security, session, heard), lambda _: None, utc_now
    )


def reserved(workers: ClusterWorkers, seats: int) -> ClusterReservation:
    """Reserve seats as soon as a worker has room. None has room while its host is too busy."""
    places: list[ClusterReservation] = []

    def found() -> bool:
        places.extend(filter(None, [workers.reserve(seats)]))
        return bool(places)

    wait_until(found)
    return places[0]


def played(workers: ClusterWorkers, match: MatchSpec, heard: list[bytes] | None = None) -> Future[bytes]:
    """Send a match to a worker as soon as one has room, and return a future for its result."""
    place = reserved(workers, len(match.seats))
    return place.play(encode(match), (heard if heard is not None else []).append)


def answered(cluster: Hosts, name: str, path: str) -> httpx2.Response:
    """Return a member's response from its ops endpoint."""
    answer = cluster.ask(name, path)
    assert answer is not None
    return answer


def missing_of(cluster: Hosts, name: str) -> dict[str, str]:
    """Return the parts that keep a member from being ready, with the reasons; empty if it is ready."""
    answer = answered(cluster, name, "/readyz")
    missing: dict[str, str] = {} if answer.is_success else answer.json()["missing"]
    return missing


def twin_is_refused(cluster: Hosts, name: str) -> bool:
    """Start a second worker with the same name. Return whether it is refused."""
    (cluster.folder / "twin").mkdir()
    shutil.copy(cluster.folder / name / "install", cluster.folder / "twin")
    cluster.start("twin", "worker", key="worker")

    def verdict() -> str:
        is_refused = "with this name" in str(missing_of(cluster, "twin"))
        return "refused" if is_refused else "joined" if cluster.is_up("twin") else ""

    wait_until(lambda: cluster.ask("twin", "/readyz"))
    return wait_until(verdict) == "refused"


@contextmanager
def closed_port(port: int) -> Iterator[None]:
    """Block connections to a local port, as a firewall does."""
    rule = ["INPUT", "-i", "lo", "-p", "tcp", "--dport", str(port), "-j", "REJECT"]
    subprocess.run(["iptables", "-I", *rule], check=True)  # noqa: S603, S607 - our own rule
    try:
        yield
    finally:
        subprocess.run(["iptables", "-D", *rule], check=True)  # noqa: S603, S607 - as above


def cut(port: int) -> None:
    """Cut this process's connections to a local port, as a brief network failure would."""
    for open_file in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # closed in the meantime, or not connected
            if not str(open_file.readlink()).startswith("socket:"):
                continue
            with socket.socket(fileno=os.dup(int(open_file.name))) as connection:
                if connection.family == socket.AF_INET and connection.getpeername() == ("127.0.0.1", port):
                    connection.shutdown(socket.SHUT_RDWR)


def figures(cluster: Hosts, name: str) -> dict[tuple[str, ...], float]:
    """Return a member's metrics, by name and labels."""
    families = text_string_to_metric_families(answered(cluster, name, "/metrics").text)
    samples = [sample for family in families for sample in family.samples]
    return {(sample.name, *sample.labels.values()): sample.value for sample in samples}


def test_connections_need_a_certificate_of_this_cluster(cluster: Hosts, tmp_path: Path) -> None:
    """Plain connections, and certificates of another authority, are refused."""
    make_keys(tmp_path, ["coordinator"], datetime.now(UTC))
    true, strange = keys(cluster.keys, "coordinator"), keys(tmp_path, "coordinator")
    for shown in (None, strange, replace(strange, ca=true.ca)):
        with pytest.raises(SchedulerUnreachable):
            link(cluster, shown)
    wait_until(lambda: "dask client" not in [thread.name for thread in threading.enumerate()])
    with closing(link(cluster, true)) as known:
        assert [member.card.host for member in known.members()]


def test_a_coordinator_refuses_the_scheduler_of_another_cluster(cluster: Hosts, tmp_path: Path) -> None:
    """The scheduler's certificate must be from the coordinator's own authority."""
    make_keys(tmp_path, ["x"], datetime.now(UTC))
    true = keys(cluster.keys, "coordinator")
    with pytest.raises(SchedulerUnreachable):
        link(cluster, replace(true, ca=tmp_path / "ca.pem"))


# Python itself doesn't close an event loop that could not be created completely.
@pytest.mark.filterwarnings("ignore:unclosed event loop:ResourceWarning")
@pytest.mark.filterwarnings("ignore:.*BaseEventLoop.__del__:pytest.PytestUnraisableExceptionWarning")
def test_a_process_without_free_descriptors_reports_it(cluster: Hosts) -> None:
    """Connecting fails with the reason, instead of waiting for an event loop that can't be created."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    shown = keys(cluster.keys, "coordinator")
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        with pytest.raises(SchedulerUnreachable, match="Too many open files"):
            Link("tcp://127.0.0.1:9", security_of(None), "s", lambda _ticket, _data: None)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        gc.collect()
    with closing(link(cluster, shown)) as known:
        assert known.members()


def test_an_address_that_others_can_reach_requires_keys() -> None:
    """Without keys, only loopback addresses are accepted."""
    for host in ("::", "192.0.2.1", "arena.example"):
        with pytest.raises(WrongCluster, match="needs keys"):
            address_of(host, 8786, None)
    assert address_of("::1", 8786, None) == "tcp://[::1]:8786"


def test_keys_are_only_for_their_user_and_never_overwritten(tmp_path: Path) -> None:
    """Each member's folder has only its own key. A second call uses the same authority."""
    now = datetime.now(UTC)
    folder = tmp_path / "keys"
    make_keys(folder, ["a"], now)
    authority = (folder / "ca.pem").read_bytes()
    (folder / "b").mkdir()
    (folder / "b" / "member.key").write_text("of a run that was killed")
    make_keys(folder, ["b"], now)
    assert {file.read_bytes() for file in folder.rglob("ca.pem")} == {authority}
    assert {file.stat().st_mode & 0o777 for file in folder.rglob("*.key")} == {0o600}
    for name in ("a", "b"):
        assert {file.name for file in (folder / name).iterdir()} == {"ca.pem", "member.pem", "member.key"}
        assert security_of(keys(folder, name)).get_connection_args("client")["ssl_context"]
    for name in ("a", "../c", ""):
        with pytest.raises(CertificateError):
            make_keys(folder, [name], now)


def test_no_certificate_outlives_its_authority(tmp_path: Path) -> None:
    """A member that is added later gets the authority's end. An expired authority can't add members."""
    now = datetime.now(UTC)
    make_keys(tmp_path, ["a"], now)
    make_keys(tmp_path, ["b"], now + timedelta(days=4 * 365))
    ends = {
        x509.load_pem_x509_certificate((tmp_path / file).read_bytes()).not_valid_after_utc
        for file in ("ca.pem", "a/member.pem", "b/member.pem")
    }
    assert len(ends) == 1
    with pytest.raises(CertificateError, match=r"the authority in .* expired on"):
        make_keys(tmp_path, ["c"], now + timedelta(days=5 * 365))
    assert not (tmp_path / "c").exists()


def test_keys_survive_a_power_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file is on disk under its name before the next one is written, so a certificate has its key."""
    synced, fsync = list[str](), os.fsync

    def note(opened: int) -> None:
        fsync(opened)
        path = Path(f"/proc/self/fd/{opened}").readlink()
        assert path.stat().st_size > 0
        synced.append(str(path.relative_to(tmp_path)))

    monkeypatch.setattr(os, "fsync", note)
    make_keys(tmp_path, ["a"], datetime.now(UTC))
    files = ("ca.key", "ca.pem", "a/ca.pem", "a/member.key", "a/member.pem")
    assert synced == [each for file in files for each in (f"{file}.part", str(Path(file).parent))]


def test_a_match_reports_progress_and_frees_its_seats(cluster: Hosts, slow: str) -> None:
    """Finished rounds are reported during the match, and the record at the end."""
    with members(cluster) as workers:
        heard: list[bytes] = []
        record = decode(played(workers, spec(slow), heard).result(timeout=WAIT_SECONDS), MatchRecord)
        assert len(record.games) == 1
        told = [decode(data, Progress) for data in heard]
        assert {(each.match, each.attempt, each.game) for each in told} == {("m", 1, 0)}
        (status,) = workers.status()
        assert status.busy == 0


def test_progress_is_reported_again_after_a_network_failure(cluster: Hosts, slow: str) -> None:
    """The connection is lost although the scheduler is running; the next one reports progress again."""
    with members(cluster) as workers:
        lost = played(workers, spec(slow, deals=200))
        cut(cluster.port)
        with pytest.raises(WorkerLost):
            lost.result(timeout=WAIT_SECONDS)
        heard: list[bytes] = []
        played(workers, spec(slow), heard).result(timeout=WAIT_SECONDS)
    assert heard


def test_a_worker_measures_its_load(cluster: Hosts) -> None:
    """A worker starts its load monitor when it joins; test_load_monitor.py tests hosts without a cluster."""
    cluster.start("measures", key="worker", program=work_and_name_threads)
    cluster.await_up("measures")
    cluster.kill("measures")
    assert "'load monitor'" in cluster.log("measures")


def test_an_arena_fault_is_returned_as_a_void(cluster: Hosts) -> None:
    """The error has the worker's name and no traceback."""
    with members(cluster) as workers:
        future = played(workers, replace(spec("x"), seeds=("no seed",)))
        with pytest.raises(MatchVoid, match="worker"):
            future.result(timeout=WAIT_SECONDS)


def test_a_coordinator_that_stops_leaves_no_match_behind(cluster: Hosts, slow: str) -> None:
    """A stop aborts the coordinator's match, and other coordinators soon see the seats free."""
    with members(cluster) as first:
        long = played(first, spec(slow, deals=200))
        with members(cluster) as second:
            wait_until(lambda: any(worker.busy == 2 for worker in second.status()))
            assert second.reserve(4) is None
            first.stop()
            with pytest.raises(LauncherStopped):
                long.result(timeout=WAIT_SECONDS)
            assert first.reserve(2) is None
            wait_until(lambda: [worker.busy for worker in second.status()] == [0])
            wait_until(lambda: second.reserve(4) is not None)


def test_a_lost_worker_is_noticed_immediately_and_gets_nothing(cluster: Hosts, slow: str) -> None:
    """The lost worker's match fails within seconds. After a restart, the worker counts as a new one."""
    with members(cluster) as workers:
        lost = played(workers, spec(slow, deals=200))
        cluster.kill("worker0")
        with within(5), pytest.raises(WorkerLost):
            lost.result(timeout=WAIT_SECONDS)
        assert workers.reserve(2) is None
        cluster.start_worker("worker0")
        assert played(workers, spec(str(samples() / "greedy"))).result(timeout=WAIT_SECONDS)


# Over 20 s: dask gives up a silent worker after 12 s, and a shorter limit would depend on timing.
def test_a_silent_worker_is_lost_in_time_and_comes_back(cluster: Hosts, slow: str) -> None:
    """The loss is noticed within 35 s, so that others can play the worker's match.

    A restarted worker can't join before the loss is noticed. A worker that only hung can't rejoin while
    another one has its name.
    """
    try:
        with members(cluster) as workers:
            lost = played(workers, spec(slow, deals=200))
            cluster.freeze("worker0")
            try:
                refused = twin_is_refused(cluster, "worker0")
                with within(35), pytest.raises(WorkerLost):
                    lost.result(timeout=WAIT_SECONDS)
                assert played(workers, spec(str(samples() / "greedy"))).result(timeout=WAIT_SECONDS)
            finally:
                cluster.thaw("worker0")
            wait_until(lambda: "with this name" in str(missing_of(cluster, "worker0")))
    finally:
        cluster.kill("twin")
        cluster.await_up("worker0")
    with members(cluster) as workers:
        assert played(workers, spec(str(samples() / "greedy"))).result(timeout=WAIT_SECONDS)
    if not refused:
        pytest.skip("the host was too busy to start a worker before the loss of another was noticed")


def test_members_report_readiness_and_recover_with_the_scheduler(
    cluster: Hosts,
) -> None:
    """Without the scheduler no member is ready, but all are healthy, and recover without a restart."""
    cluster.start("coordinator", "coordinator", key="coordinator")
    everybody = ("scheduler", "worker0", "coordinator")
    cluster.await_up(*everybody)
    assert all(answered(cluster, name, "/healthz").is_success for name in everybody)
    cluster.kill("scheduler")
    for name, part in (("worker0", "worker"), ("coordinator", "workers")):
        wait_until(partial(missing_of, cluster, name))
        [(missing, why)] = missing_of(cluster, name).items()
        assert missing == part
        assert "scheduler" in why
        assert answered(cluster, name, "/healthz").is_success
    cluster.start_scheduler()
    cluster.await_up(*everybody)
    cluster.tell("coordinator")
    assert cluster.ended("coordinator") == 0


def test_members_export_metrics(cluster: Hosts) -> None:
    """A worker exports its attempts and seats; a scheduler exports only process metrics."""
    with members(cluster) as workers:
        before = figures(cluster, "worker0")
        played(workers, spec(str(samples() / "greedy"))).result(timeout=WAIT_SECONDS)
        (status,) = workers.status()
    after = figures(cluster, "worker0")
    assert after["kaiten_host_matches_total", "record"] == before["kaiten_host_matches_total", "record"] + 1
    assert after["kaiten_host_slots",] == status.seats
    assert after["kaiten_host_busy_slots",] == 0
    assert after["kaiten_disk_free_bytes",] > 0
    assert figures(cluster, "scheduler")["process_resident_memory_bytes",] > 0


@pytest.mark.usefixtures("iptables")
def test_a_worker_that_can_play_nothing_costs_no_match(cluster: Hosts, tmp_path: Path, run_dir: Path) -> None:
    """It gets no matches if the scheduler can't reach it. Matches that it voids aren't quarantined."""
    port, run_dir = free_port(), run_dir / "run"
    with closed_port(port):
        cluster.start("worker2", "worker", "--port", str(port), key="worker", ARENA_RUN_DIR=str(run_dir))
        wait_until(lambda: cluster.ask("worker2", "/readyz"))
        wait_until(lambda: "can't call" in str(missing_of(cluster, "worker2")))
        with members(cluster) as workers:
            wait_until(lambda: len(workers.status()) == 2)
            places = [reserved(workers, 2), *(workers.reserve(2) for _ in range(3))]
            assert len({place.worker for place in places if place is not None}) == 1
    cluster.await_up("worker2")
    with closed_port(port):  # after it has joined
        wait_until(lambda: "can't call" in str(missing_of(cluster, "worker2")))
    cluster.await_up("worker2")
    shutil.rmtree(run_dir)
    run_dir.write_text("no folder")  # so that no socket can be made
    with closing(sqlite_store(tmp_path / "arena.sqlite3")) as store:
        queue_up(store, 4)
        notes, begun = Notes(), time.monotonic()
        coordinate(cluster, store, notes)
    assert (notes.finished, notes.lost, notes.quarantined) == (4, [], 0)
    # At most those that started before the first failure, and then one per minute.
    assert 1 <= len(notes.voided) <= 2 + (time.monotonic() - begun) // 60
    assert all("can't create socket folders" in why for why in notes.voided)
    cluster.kill("worker2")


def test_no_match_is_lost_when_workers_join_and_leave(cluster: Hosts, tmp_path: Path) -> None:
    """On SIGTERM a worker finishes its matches, whose results are collected. Other workers play the rest."""
    with closing(sqlite_store(tmp_path / "arena.sqlite3")) as store:
        queue_up(store, 10)

        def over(finished: int) -> None:
            if finished == 1:
                cluster.start_worker("worker1")
            if finished == 4:
                cluster.tell("worker0")

        notes = Notes(over)
        coordinate(cluster, store, notes)
        assert (notes.finished, notes.lost, notes.voided) == (10, [], [])
        assert cluster.ended("worker0") == 0
        assert len(set(notes.by.values())) == 2
