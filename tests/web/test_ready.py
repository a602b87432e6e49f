"""The site as a process when its database fails and recovers: readiness and logs."""

import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families

from arena.db.store import open_store
from tests.patience import WAIT_SECONDS, wait_until
from tests.postgresql import Cluster
from tests.web.site import Site, opened, served

SECRET = "hunter2"  # noqa: S105 - a test value


@pytest.fixture(scope="module")
def cluster(postgresql_programs: Path) -> Iterator[Cluster]:
    """Yield a separate PostgreSQL server with an arena's tables, which tests can stop and start."""
    cluster = Cluster(postgresql_programs)
    try:
        cluster.start()
        open_store(cluster.address("postgres", "postgresql+psycopg")).close()
        yield cluster
    finally:
        cluster.remove()


@contextmanager
def frozen(cluster: Cluster) -> Iterator[None]:
    """Suspend a server's sessions. Their connections stay open, but get no responses."""
    with closing(psycopg.connect(cluster.address("postgres"), autocommit=True)) as connection:
        others = (
            "SELECT pid FROM pg_stat_activity "
            "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        pids = [row[0] for row in connection.execute(others)]
    assert pids
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.postgresql
def test_a_site_whose_database_hangs_or_takes_no_writes_is_not_ready(
    cluster: Cluster, tmp_path: Path
) -> None:
    """The site gives the reason to all requests, and is ready again when the database recovers."""
    with (
        opened(tmp_path, ARENA_DATABASE_URL=cluster.address("postgres", "postgresql+psycopg")) as site,
        httpx2.Client(base_url=site.url, timeout=WAIT_SECONDS) as client,
    ):
        wait_until(lambda: client.get("/readyz").text == "ok\n", "the database")
        with frozen(cluster), ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: client.get("/readyz"), range(8)))
            assert {answer.status_code for answer in answers} == {503}
            assert "is not responding" in answers[-1].json()["detail"]
            assert client.get("/healthz").text == "ok\n"
        wait_until(lambda: client.get("/readyz").status_code == 200, "the database")
        with closing(psycopg.connect(cluster.address("postgres"), autocommit=True)) as connection:
            connection.execute("ALTER SYSTEM SET default_transaction_read_only = on")
            connection.execute("SELECT pg_reload_conf()")
            wait_until(
                lambda: "is read-only at the moment" in client.get("/readyz").text, "a read-only database"
            )
            assert client.get("/readyz").status_code == 503
            assert client.get("/leaderboard").status_code == 200
            connection.execute("SET default_transaction_read_only = off")
            connection.execute("ALTER SYSTEM RESET default_transaction_read_only")
            connection.execute("SELECT pg_reload_conf()")
        wait_until(lambda: client.get("/readyz").status_code == 200, "a writable database")


@pytest.mark.postgresql
def test_a_site_without_its_database_is_healthy_but_not_ready(cluster: Cluster, tmp_path: Path) -> None:
    """The database crashes, recovers, and gets another schema. The log has all of this, but no secret."""
    with (
        served(
            tmp_path,
            ARENA_DATABASE_URL=cluster.address("postgres", "postgresql+psycopg"),
            ARENA_LOG_LEVEL="info",
            ARENA_WEB_OPS_ADDRESS="127.0.0.1:0",
        ) as site,
        httpx2.Client(
            base_url=site.url,
            timeout=WAIT_SECONDS,
            params={"token": SECRET},
            headers={"Authorization": f"Bearer {SECRET}"},
        ) as client,
    ):
        wait_until(lambda: client.get("/readyz").text == "ok\n", "the database")
        cluster.crash()
        answer = client.get("/readyz")
        assert (answer.status_code, answer.headers["Cache-Control"]) == (503, "no-store")
        assert answer.json()["detail"] == "The arena's database is not responding."
        assert client.get("/healthz").text == "ok\n"
        assert client.get("/leaderboard").status_code == 503
        cluster.resume()
        wait_until(lambda: client.get("/readyz").status_code == 200, "the database")
        with closing(psycopg.connect(cluster.address("postgres"), autocommit=True)) as connection:
            (number,) = connection.execute("SELECT version_num FROM kaiten_schema").fetchone() or ("",)
            connection.execute("UPDATE kaiten_schema SET version_num = 'later'")
            wait_until(lambda: "another version" in client.get("/readyz").text, "the other version")
            connection.execute("UPDATE kaiten_schema SET version_num = %s", [number])
        assert client.get(f"/bots/{SECRET}").status_code == 404
        assert client.get("/metrics").status_code == 404
        told = _metrics(site)
        # A request is counted only after its response has been sent.
        wait_until(lambda: _counted(told) == 3, "three requests in the metrics")
        lines = _ended(site)
    requests = {line["request"]: line for line in lines if line["event"] == "request"}
    assert len(requests) == 3
    assert [(line["route"], line["status"]) for line in requests.values()] == [
        ("/leaderboard", 503),
        ("/bots/{bot}", 404),
        ("unknown", 404),
    ]
    (trouble,) = [line for line in lines if line["event"] == "database unavailable"]
    assert requests[trouble["request"]]["status"] == 503
    not_ready = [line for line in lines if line["event"] == "not ready"]
    assert "needs" in not_ready[-1]["error"]
    assert all("request" in line for line in not_ready)


def _metrics(site: Site) -> str:
    """Return the URL of the metrics."""
    assert site.process.stderr is not None
    line = json.loads(site.process.stderr.readline())
    assert line["event"] == "metrics endpoint listening"
    return f"http://{line['address']}/metrics"


def _counted(metrics: str) -> float:
    """Return the number of counted requests, without probes."""
    text = httpx2.get(metrics, timeout=WAIT_SECONDS).text
    (requests,) = (
        each for each in text_string_to_metric_families(text) if each.name == "kaiten_http_requests"
    )
    routes = [sample for sample in requests.samples if not sample.labels["route"].endswith("z")]
    return sum(sample.value for sample in routes)


def _ended(site: Site) -> list[dict[str, Any]]:
    """Stop the site, check that its log has no secret, and return the log's JSON lines."""
    site.process.send_signal(signal.SIGTERM)
    assert site.process.wait(WAIT_SECONDS) == 0
    assert site.process.stderr is not None
    text = site.process.stderr.read()
    assert SECRET not in text
    return [json.loads(line) for line in text.splitlines()]
