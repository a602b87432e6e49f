"""Idle and slow connections: they end in time, and don't keep others out."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Final

import pytest
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse

from tests.patience import wait_until
from tests.web.server import running, serving
from web.http.connections import ConnectionLimits, Connections, guarded, listen

LONG = 600.0
"""A time limit in seconds that no test reaches."""

Address = tuple[str, int]

SHORT = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
"""A whole request."""

EARLY = b"POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 20000000\r\n\r\n"
"""The header of a request that gets its response before its body is complete."""


def app() -> FastAPI:
    """Return a site with short, large and early responses, and one that needs the whole body."""
    made = FastAPI()

    @made.get("/")
    async def plain() -> PlainTextResponse:
        return PlainTextResponse("ok")

    @made.get("/large")
    async def large() -> PlainTextResponse:
        return PlainTextResponse("x" * 30_000_000)

    @made.post("/whole")
    async def whole(request: Request) -> PlainTextResponse:
        return PlainTextResponse(f"{len(await request.body())}")

    @made.post("/early")
    async def early() -> PlainTextResponse:
        return PlainTextResponse("enough")

    return made


@contextmanager
def site(*, proxies: tuple[str, ...] = (), most: int = 1000, **limits: float) -> Iterator[Address]:
    """Serve the site with these limits."""
    set_ = {"header_seconds": LONG, "rest_seconds": LONG, "per_source": 100, **limits}
    connections = Connections(ConnectionLimits(total=most, **set_), proxies)  # type: ignore[arg-type]
    with serving(app(), http=guarded(connections), ws="none", timeout_keep_alive=LONG) as address:
        yield address


def connect(address: Address, *, source: str = "127.0.0.1", sent: bytes = b"") -> socket.socket:
    """Connect from an address of this host."""
    made = socket.create_connection(address, timeout=LONG / 2, source_address=(source, 0))
    made.sendall(sent)
    return made


def connect_in_time(address: Address, request: bytes) -> socket.socket:
    """Connect, send a request, and wait for the beginning of the response.

    If a busy host needs longer than the site's limit for a header, try again.
    """

    def tried() -> socket.socket | None:
        visitor = connect(address)
        with suppress(ConnectionError):
            visitor.sendall(request)
            if visitor.recv(1, socket.MSG_PEEK):
                return visitor
        visitor.close()
        return None

    return wait_until(tried, "a connection")


def asks(visitor: socket.socket) -> str:
    """Send a request, read the whole response, and return its first line. Return "" if disconnected."""
    try:
        visitor.sendall(SHORT)
        return answered(visitor)
    except ConnectionError:
        return ""


def answered(visitor: socket.socket) -> str:
    """Read a whole response, and return its first line."""
    answer = visitor.makefile("rb")
    first = answer.readline().decode().strip()
    length = 0
    while line := answer.readline().strip():
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    answer.read(length)
    return first


def is_closed(visitor: socket.socket) -> bool:
    """Wait until the server closes the connection. Return False if data comes instead."""
    try:
        return visitor.recv(1) == b""
    except ConnectionError:
        return True


RAISE: Final = """
import resource
from web.http.connections import raise_open_files
connections = []
for hard in (1000, 300):
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))
    connections.append((raise_open_files(), *resource.getrlimit(resource.RLIMIT_NOFILE)))
print(connections)
"""


def test_the_limit_of_open_files_is_raised() -> None:
    """Some of the files are reserved for other uses, but at most half of them."""
    child = subprocess.run([sys.executable, "-c", RAISE], capture_output=True, text=True, check=True)  # noqa: S603 - our own argument list
    assert child.stdout == "[(744, 1000, 1000), (150, 300, 300)]\n"


def test_an_incomplete_header_ends_the_connection() -> None:
    """It doesn't matter whether any part of the header has arrived. Without the limit, the server waits."""
    request = b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: b\r\n\r\n"
    with site(header_seconds=0.5) as address, site() as unlimited, ExitStack() as visitors:
        for length in (0, 8, len(request) - 5):
            sent, rest = request[:length], request[length:]
            patient = visitors.enter_context(connect(unlimited, sent=sent))
            assert is_closed(visitors.enter_context(connect(address, sent=sent))), sent
            patient.sendall(rest)
            assert answered(patient) == "HTTP/1.1 200 OK"


def test_the_time_limit_applies_only_to_headers() -> None:
    """A header that arrives byte by byte gets no more time, except on a site without the limit.

    Idle connections between requests, and bodies, have other limits.
    """
    whole = b"POST /whole HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"
    with (
        site(header_seconds=3.0) as address,
        site() as unlimited,
        connect(unlimited, sent=b"GET / HTTP/1.1\r\nHost: a\r\n") as patient,
        connect_in_time(address, SHORT) as idle,
        connect_in_time(address, SHORT) as dripping,
        connect_in_time(address, whole) as sender,
        connect_in_time(address, EARLY) as reader,
        connect(address) as silent,
    ):
        assert answered(idle) == answered(dripping) == "HTTP/1.1 200 OK"
        assert answered(sender) == "HTTP/1.1 100 Continue"
        reader.sendall(bytes(10_000_000))

        def cut() -> bool:
            """Send a byte of a further request. Each byte resets uvicorn's own time limit."""
            patient.sendall(b"X")
            try:
                dripping.sendall(b"X")
            except ConnectionError:
                return True
            return False

        wait_until(cut, "the end of the connection")
        patient.sendall(b": a\r\n\r\n")
        assert answered(patient) == "HTTP/1.1 200 OK"
        assert is_closed(silent)
        assert asks(idle) == "HTTP/1.1 200 OK"
        sender.sendall(b"body")
        assert answered(sender) == "HTTP/1.1 200 OK"
        # A client that reads the response only after sending the whole body still gets it.
        reader.sendall(bytes(10_000_000))
        assert answered(reader) == "HTTP/1.1 200 OK"


def test_the_rest_of_a_body_after_an_early_response_has_a_time_limit() -> None:
    """A client that doesn't send the rest in time is disconnected, except by a site without the limit."""
    with (
        site(rest_seconds=0.5) as address,
        site() as unlimited,
        connect(unlimited, sent=EARLY) as patient,
        connect(address, sent=EARLY) as sender,
    ):
        for visitor in (sender, patient):
            assert answered(visitor) == "HTTP/1.1 200 OK"
            visitor.sendall(b"more")
        assert is_closed(sender)
        patient.sendall(bytes(20_000_000 - len(b"more")))
        assert asks(patient) == "HTTP/1.1 200 OK"


def test_connections_per_address_are_limited() -> None:
    """A connection above the limit is closed immediately.

    Other addresses can still connect, and so can this one once another of its connections has ended. With a
    higher limit, the same connection is accepted.
    """
    with site(per_source=3) as address, connect(address), connect(address), connect(address) as third:
        assert asks(third) == "HTTP/1.1 200 OK"
    with site(per_source=2) as address, ExitStack() as silent:
        first = silent.enter_context(connect(address))
        silent.enter_context(connect(address))
        with connect(address) as third:
            assert is_closed(third)
        with connect(address, source="127.0.0.2") as other:
            assert asks(other) == "HTTP/1.1 200 OK"
        first.close()

        def let_in() -> bool:
            with connect(address) as again:
                return asks(again) == "HTTP/1.1 200 OK"

        wait_until(let_in, "room for another connection")


def test_connections_of_a_trusted_proxy_are_not_limited() -> None:
    """Proxies are trusted by address or network."""
    with site(per_source=1, proxies=("10.0.0.0/8", "127.0.0.2/32")) as address, ExitStack() as visitors:
        for _ in range(5):
            visitor = visitors.enter_context(connect(address, source="127.0.0.2"))
            assert asks(visitor) == "HTTP/1.1 200 OK"


def test_at_the_limit_the_longest_idle_connection_makes_room() -> None:
    """A connection with a request in progress is never closed to make room."""
    head = b"POST /whole HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"
    with site(most=3) as address, connect(address, sent=head) as sender, connect(address) as oldest:
        assert sender.recv(25).startswith(b"HTTP/1.1 100")
        with connect(address) as second, connect(address) as third:
            assert asks(third) == "HTTP/1.1 200 OK"
            assert is_closed(oldest)
            assert asks(second) == "HTTP/1.1 200 OK"
        sender.sendall(b"body")
        assert "200" in sender.makefile("rb").read(60).decode()


def test_without_making_room_idle_connections_keep_others_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same idle connections then stay open, and a new one is closed."""
    monkeypatch.setattr(Connections, "mark_idle", lambda *_: None)
    with site(most=2) as address, connect(address) as oldest, connect(address) as second:
        assert asks(second) == "HTTP/1.1 200 OK"
        with connect(address) as third:
            assert is_closed(third)
        assert asks(oldest) == "HTTP/1.1 200 OK"


@contextmanager
def reading(seconds: float) -> Iterator[tuple[uvicorn.Server, Address]]:
    """Serve the site with this limit for clients that don't read, and yield the server and its address."""
    connections = Connections(ConnectionLimits(total=1000, header_seconds=LONG), ())
    with (
        listen("127.0.0.1", 0, reader_seconds=seconds) as listener,
        running(app(), listener, http=guarded(connections)) as server,
    ):
        yield server, listener.getsockname()


def test_a_client_that_does_not_read_is_disconnected() -> None:
    """The response is buffered, so only the kernel notices that the client has stopped reading.

    Without the limit, such a client stays connected.
    """
    request = b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n"
    with (
        reading(LONG) as (patient, other),
        reading(1.0) as (server, address),
        connect(other, sent=request),
        connect(address, sent=request) as visitor,
    ):
        wait_until(lambda: bool(patient.server_state.connections), "the request")
        # The connection may have ended before the test sees it.
        wait_until(lambda: server.server_state.total_requests == 1, "the other request")
        wait_until(lambda: not server.server_state.connections, "the end of the connection")
        assert patient.server_state.connections
        assert visitor.fileno() >= 0
