"""Tests of the HTTP server for supervisors and Prometheus."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import NoReturn

import httpx2
import pytest
from prometheus_client import Counter
from prometheus_client.parser import text_string_to_metric_families
from starlette.responses import PlainTextResponse, Response

from arena.ops.health import (
    STALE_SECONDS,
    Answer,
    CallWithTimeout,
    CannotListen,
    OpsServer,
    checked,
    loop_check,
    metrics_of,
    new_registry,
)
from arena.platform.settings import Address
from tests.patience import WAIT_SECONDS


class World:
    """The checks and metrics of a process."""

    def __init__(self) -> None:
        self.missing: dict[str, str | None] = {"first": None, "second": None}
        self.registry = new_registry()

    def routes(self) -> dict[str, Answer]:
        """Return the handlers by path."""
        checks = {name: (lambda name=name: self.missing[name]) for name in self.missing}
        return {
            "/readyz": checked(checks),
            "/metrics": metrics_of(self.registry),
            "/broken": self._broken,
        }

    def _broken(self) -> NoReturn:
        raise RuntimeError("secret detail")


@pytest.fixture
def world() -> World:
    """Return the checks and metrics of a process."""
    return World()


@pytest.fixture
def client(world: World) -> Iterator[httpx2.Client]:
    """Yield a client of a running server."""
    with (
        OpsServer(Address("127.0.0.1", 0), world.routes()) as listener,
        httpx2.Client(base_url=f"http://{listener.address}", timeout=WAIT_SECONDS) as client,
    ):
        yield client


def test_failed_checks_are_reported_as_a_problem(world: World, client: httpx2.Client) -> None:
    """The response, which must not be cached, is 200 if all checks pass, else 503 and the failed checks."""
    answer = client.get("/readyz")
    assert (answer.status_code, answer.text) == (200, "ok\n")
    assert answer.headers["Cache-Control"] == "no-store"
    world.missing["second"] = "it is away"
    answer = client.get("/readyz?at=once")
    assert (answer.status_code, answer.headers["Content-Type"]) == (503, "application/problem+json")
    assert answer.json()["missing"] == {"second": "it is away"}
    assert answer.json()["detail"] == "second: it is away"
    assert client.head("/readyz").status_code == 503


def test_metrics_can_be_read(world: World, client: httpx2.Client) -> None:
    """Metrics are in Prometheus' text format, and include those of the process."""
    Counter("kaiten_tries", "Tries.", registry=world.registry).inc(2)
    answer = client.get("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    found = {family.name: family for family in text_string_to_metric_families(answer.text)}
    assert found["kaiten_tries"].samples[0].value == 2
    assert "process_open_fds" in found


def test_other_requests_are_refused(client: httpx2.Client) -> None:
    """Other paths and methods are refused. An error shows no details, and later requests still work."""
    assert client.get("/").status_code == 404
    assert client.post("/readyz").status_code == 405
    answer = client.get("/broken")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert client.get("/readyz").status_code == 200


def test_a_silent_connection_delays_no_request(client: httpx2.Client) -> None:
    """While a connection without a request is open, requests on other connections are answered."""
    with socket.create_connection((client.base_url.host, client.base_url.port or 0)):
        assert client.get("/readyz").status_code == 200


def test_a_hung_check_delays_neither_other_checks_nor_the_end() -> None:
    """Each check runs in its own thread, and the server stops without waiting for a hung one."""
    asked, hung = threading.Event(), threading.Event()

    def hang() -> Response:
        asked.set()
        hung.wait(WAIT_SECONDS)
        return PlainTextResponse("late")

    answers: dict[str, Answer] = {"/hangs": hang, "/healthz": checked({})}
    try:
        with (
            OpsServer(Address("127.0.0.1", 0), answers) as listener,
            socket.create_connection(listener.address) as connection,
        ):
            connection.sendall(b"GET /hangs HTTP/1.1\r\nHost: test\r\n\r\n")
            assert asked.wait(WAIT_SECONDS)
            assert httpx2.get(f"http://{listener.address}/healthz", timeout=WAIT_SECONDS).text == "ok\n"
        assert not hung.is_set()
    finally:
        hung.set()


def test_a_check_recovers_from_a_lack_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call fails if no thread can be started, and the next call starts one."""

    def fail(_: threading.Thread) -> NoReturn:
        raise RuntimeError("can't start new thread")

    call = CallWithTimeout(lambda: "done", WAIT_SECONDS)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", fail)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            call()
    assert call() == "done"


def test_an_address_in_use_is_an_error(world: World) -> None:
    """The error is raised before the server runs."""
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
        with pytest.raises(CannotListen, match=f"127.0.0.1:{port}.*use another address"):
            OpsServer(Address("127.0.0.1", port), world.routes())


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:9464", Address("127.0.0.1", 9464)),
        (" [::1]:0 ", Address("::1", 0)),
        ("localhost:65535", Address("localhost", 65535)),
        ("", None),
    ],
)
def test_addresses_are_read_and_written(text: str, address: Address | None) -> None:
    """An address has a host and a port. IPv6 addresses are in brackets."""
    assert Address.parse(text) == address
    assert str(address or "") == text.strip()


@pytest.mark.parametrize("text", ["9464", "host:", ":9464", "host:65536", "host:-1", "host:http", "[]:1"])
def test_invalid_addresses_are_refused(text: str) -> None:
    """The error has an example of an address."""
    with pytest.raises(ValueError, match=r"127\.0\.0\.1:9464"):
        Address.parse(text)


def test_a_hung_loop_is_unhealthy() -> None:
    """A loop is unhealthy after some seconds without an iteration, but not before its first one."""
    turned: float | None = None
    now = 5.0
    check = loop_check(lambda: turned, lambda: now)
    assert check() is None
    turned, now = 5.0, 5.0 + STALE_SECONDS - 0.1
    assert check() is None
    now = 5.0 + STALE_SECONDS + 2
    assert check() == "hung for 12 s"
    turned = now
    assert check() is None
