"""Connections that ask for nothing: they end in time, and keep nobody else out."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Thread

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse

from tests.demo.running import await_that
from tests.web.server import serving
from web.http.connections import ConnectionLimits, Connections, guarded, listen

LONG = 600.0
"""Seconds that no test takes: what ends before was not ended by this."""

Address = tuple[str, int]

EARLY = b"POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 20000000\r\n\r\n"
"""The head of a request that is answered before its body has come."""


def app() -> FastAPI:
    """Return a site that answers at once, or with a lot, or before it has read what was sent."""
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
    """Serve it with these limits."""
    set_ = {"header_seconds": LONG, "rest_seconds": LONG, "of_source": 100, **limits}
    connections = Connections(ConnectionLimits(most=most, **set_), proxies)  # type: ignore[arg-type]
    with serving(app(), http=guarded(connections), ws="none", timeout_keep_alive=LONG) as address:
        yield address


def connect(address: Address, *, source: str = "127.0.0.1", sent: bytes = b"") -> socket.socket:
    """Connect from an address of this machine."""
    made = socket.create_connection(address, timeout=LONG / 2, source_address=(source, 0))
    made.sendall(sent)
    return made


def asks(visitor: socket.socket, path: str = "/") -> str:
    """Send a whole request; return the first line of its answer, which is read to its end, or nothing."""
    try:
        visitor.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        return answered(visitor)
    except ConnectionError:
        return ""


def answered(visitor: socket.socket) -> str:
    """Return the first line of an answer, which is read to its end."""
    answer = visitor.makefile("rb")
    first = answer.readline().decode().strip()
    length = 0
    while line := answer.readline().strip():
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    answer.read(length)
    return first


def is_closed(visitor: socket.socket) -> bool:
    """Wait until a connection is closed from the other side."""
    try:
        return visitor.recv(1) == b""
    except ConnectionError:
        return True


def test_a_header_that_does_not_come_ends_the_connection() -> None:
    """Whether nothing of it came, or half."""
    with site(header_seconds=0.5) as address, ExitStack() as visitors:
        for sent in (b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: "):
            assert is_closed(visitors.enter_context(connect(address, sent=sent))), sent


def test_only_a_header_that_is_due_is_given_time() -> None:
    """One that drips gets no more; connections between requests, and bodies, have clocks of their own."""
    whole = b"POST /whole HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n"
    with (
        site(header_seconds=3.0) as address,
        connect(address) as idle,
        connect(address) as dripping,
        connect(address, sent=whole) as sender,
        connect(address, sent=EARLY) as reader,
        connect(address) as silent,
    ):
        assert asks(idle) == asks(dripping) == "HTTP/1.1 200 OK"
        reader.sendall(bytes(10_000_000))

        def cut() -> bool:
            """Send a byte of a further request: each ends uvicorn's own clock."""
            try:
                dripping.sendall(b"X")
            except ConnectionError:
                return True
            return False

        await_that(cut, "the end of the connection")
        assert is_closed(silent)
        assert asks(idle) == "HTTP/1.1 200 OK"
        sender.sendall(b"body")
        assert answered(sender) == "HTTP/1.1 200 OK"
        # Who reads the answer only after the whole body still gets it.
        reader.sendall(bytes(10_000_000))
        assert answered(reader) == "HTTP/1.1 200 OK"


def test_the_rest_of_a_body_that_was_answered_early_has_its_own_time() -> None:
    """Who lets it drip is cut."""
    with site(rest_seconds=0.5) as address, connect(address, sent=EARLY) as sender:
        assert answered(sender) == "HTTP/1.1 200 OK"
        sender.sendall(b"more")
        assert is_closed(sender)


def test_an_address_has_so_many_connections_at_a_time() -> None:
    """One more is closed at once; other addresses are let in, and so is this one when another ends."""
    with site(of_source=2) as address, ExitStack() as silent:
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

        await_that(let_in, "room for one more")


def test_a_proxy_has_as_many_as_its_visitors_need() -> None:
    """One that is trusted, by its address or its network."""
    with site(of_source=1, proxies=("10.0.0.0/8", "127.0.0.2/32")) as address, ExitStack() as visitors:
        for _ in range(5):
            visitor = visitors.enter_context(connect(address, source="127.0.0.2"))
            assert asks(visitor) == "HTTP/1.1 200 OK"


def test_where_all_are_taken_the_one_that_waited_longest_makes_room() -> None:
    """One with a request under way stays, no matter who comes."""
    head = b"POST /whole HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"
    with site(most=3) as address, connect(address, sent=head) as sender, connect(address) as oldest:
        assert sender.recv(25).startswith(b"HTTP/1.1 100")
        with connect(address) as second, connect(address) as third:
            assert asks(third) == "HTTP/1.1 200 OK"
            assert is_closed(oldest)
            assert asks(second) == "HTTP/1.1 200 OK"
        sender.sendall(b"body")
        assert "200" in sender.makefile("rb").read(60).decode()


def test_who_reads_nothing_of_an_answer_loses_the_connection() -> None:
    """All of it has been written, or waits to be: the kernel sees that the reader stands still."""
    connections = Connections(ConnectionLimits(most=1000, header_seconds=LONG), ())
    config = uvicorn.Config(app(), log_config=None, access_log=False, http=guarded(connections))
    server = uvicorn.Server(config)
    with listen("127.0.0.1", 0, reader_seconds=1.0) as listener:
        thread = Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            await_that(lambda: server.started, "the site")
            with connect(listener.getsockname(), sent=b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n") as visitor:
                await_that(lambda: bool(server.server_state.connections), "the request")
                await_that(lambda: not server.server_state.connections, "the end of the connection")
                assert visitor.fileno() >= 0
        finally:
            server.should_exit = True
            thread.join()
