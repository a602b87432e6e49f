"""The small server that supervisors and Prometheus ask."""

import socket
from collections.abc import Iterator
from contextlib import closing
from typing import NoReturn

import httpx2
import pytest
from prometheus_client import Counter
from prometheus_client.parser import text_string_to_metric_families

from arena.monitoring.address import Address
from arena.monitoring.health import STALE_SECONDS, goes_round
from arena.monitoring.listener import CannotListen, Listener, Route, checked, metrics_of
from arena.monitoring.registry import new_registry


class World:
    """What is asked for."""

    def __init__(self) -> None:
        self.missing: dict[str, str | None] = {"first": None, "second": None}
        self.registry = new_registry()

    def routes(self) -> dict[str, Route]:
        """Return what is answered where."""
        checks = {name: (lambda name=name: self.missing[name]) for name in self.missing}
        return {"/readyz": checked(checks), "/metrics": metrics_of(self.registry), "/broken": self._broken}

    def _broken(self) -> NoReturn:
        raise RuntimeError("secret detail")


@pytest.fixture
def world() -> World:
    """Give what is asked for."""
    return World()


@pytest.fixture
def client(world: World) -> Iterator[httpx2.Client]:
    """Give somebody who asks."""
    with (
        Listener(Address("127.0.0.1", 0), world.routes()) as listener,
        httpx2.Client(base_url=f"http://{listener.address}") as client,
    ):
        yield client


def test_what_is_missing_is_told_as_a_problem(world: World, client: httpx2.Client) -> None:
    """200 while nothing is; 503 and each by its name otherwise. No cache keeps it."""
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
    """In Prometheus' text format, with what is known of any process."""
    Counter("kaiten_tries", "Tries.", registry=world.registry).inc(2)
    answer = client.get("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    found = {family.name: family for family in text_string_to_metric_families(answer.text)}
    assert found["kaiten_tries"].samples[0].value == 2
    assert "process_open_fds" in found


def test_nothing_else_is_answered(client: httpx2.Client) -> None:
    """Neither other paths nor other methods; what fails tells nothing, and what follows is answered."""
    assert client.get("/").status_code == 404
    assert client.post("/readyz").status_code == 501
    answer = client.get("/broken")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert client.get("/readyz").status_code == 200


def test_somebody_who_says_nothing_holds_nobody_up(client: httpx2.Client) -> None:
    """Each who asks has a thread."""
    with socket.create_connection((client.base_url.host, client.base_url.port or 0)):
        assert client.get("/readyz").status_code == 200


def test_an_address_that_is_taken_is_named(world: World) -> None:
    """Before anything runs."""
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
        with pytest.raises(CannotListen, match=f"127.0.0.1:{port}.*name another one"):
            Listener(Address("127.0.0.1", port), world.routes())


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
    """A host and a port; of IPv6 in brackets."""
    assert Address.parse(text) == address
    assert str(address or "") == text.strip()


@pytest.mark.parametrize("text", ["9464", "host:", ":9464", "host:65536", "host:-1", "host:http", "[]:1"])
def test_what_is_no_address_is_refused(text: str) -> None:
    """With an example."""
    with pytest.raises(ValueError, match=r"127\.0\.0\.1:9464"):
        Address.parse(text)


def test_a_loop_that_hangs_is_not_well() -> None:
    """From so many seconds on, and not before it has begun."""
    turned: float | None = None
    now = 5.0
    check = goes_round(lambda: turned, lambda: now)
    assert check() is None
    turned, now = 5.0, 5.0 + STALE_SECONDS - 0.1
    assert check() is None
    now = 5.0 + STALE_SECONDS + 2
    assert check() == "it has not gone round for 12 s"
    turned = now
    assert check() is None
