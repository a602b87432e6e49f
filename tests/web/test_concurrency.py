"""Concurrent requests per address are limited; requests from other addresses don't wait for them."""

import asyncio
from collections.abc import Callable

from starlette.types import Message, Receive, Scope, Send

from tests.patience import WAIT_SECONDS
from web.http.concurrency import MAX_CONCURRENT, ConcurrencyLimit


class Slow:
    """An application that begins and ends its responses when the test allows it."""

    def __init__(self) -> None:
        self.running: list[str] = []
        self.bodies: list[list[Message]] = []
        self.may_begin = asyncio.Event()
        self.may_end = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request."""
        self.running.append(scope["client"][0])
        if scope["path"] == "/form":
            self.bodies.append([await receive(), await receive()])
        await self.may_begin.wait()
        if scope["path"] == "/broken":
            raise ValueError
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await self.may_end.wait()
        await send({"type": "http.response.body", "body": b""})


async def nothing() -> Message:
    """Return an empty request body."""
    return {"type": "http.request"}


async def discard(_message: Message) -> None:
    """Discard the message."""


def ask(
    limit: ConcurrencyLimit,
    host: str,
    *,
    method: str = "GET",
    path: str = "/compare",
    receive: Receive = nothing,
) -> asyncio.Task[None]:
    """Begin a request from an address."""
    scope = {"type": "http", "method": method, "path": path, "client": (host, 1), "headers": []}
    return asyncio.ensure_future(limit(scope, receive, discard))


async def until(condition: Callable[[], bool]) -> None:
    """Let other tasks run until a condition holds."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not condition():  # noqa: ASYNC110 - no event says that a task is waiting
            await asyncio.sleep(0)


def test_requests_of_an_address_wait_only_for_each_other() -> None:
    """Uploads and other addresses aren't delayed."""

    async def scene() -> None:
        slow = Slow()
        limit = ConcurrencyLimit(slow)
        methods = ["POST", "DELETE", "HEAD", *["GET"] * MAX_CONCURRENT, "PUT"]
        asked = [ask(limit, "192.0.2.1", method=method) for method in methods]
        asked.append(ask(limit, "192.0.2.2"))
        await until(lambda: "192.0.2.2" in slow.running)
        assert slow.running.count("192.0.2.1") == MAX_CONCURRENT + 1
        slow.may_begin.set()
        slow.may_end.set()
        await asyncio.gather(*asked)
        assert slow.running.count("192.0.2.1") == MAX_CONCURRENT + 4

    asyncio.run(scene())


def test_a_body_that_has_not_arrived_takes_no_place() -> None:
    """Unfinished forms of one client can't keep the others at its address waiting."""
    first: Message = {"type": "http.request", "body": b"na", "more_body": True}
    last: Message = {"type": "http.request", "body": b"me=x", "more_body": False}

    async def scene() -> None:
        slow = Slow()
        slow.may_begin.set()
        slow.may_end.set()
        limit = ConcurrencyLimit(slow)
        may_arrive = asyncio.Event()

        def late() -> Receive:
            messages = [first, last]

            async def receive() -> Message:
                if len(messages) == 1:
                    await may_arrive.wait()
                return messages.pop(0)

            return receive

        forms = [
            ask(limit, "192.0.2.1", method="POST", path="/form", receive=late())
            for _ in range(2 * MAX_CONCURRENT)
        ]
        await ask(limit, "192.0.2.1")
        assert slow.bodies == []
        may_arrive.set()
        await asyncio.gather(*forms)
        assert slow.bodies == [[first, last]] * 2 * MAX_CONCURRENT

    asyncio.run(scene())


def test_a_response_that_has_begun_frees_its_place() -> None:
    """Otherwise, event streams would keep their places for hours."""

    async def scene() -> None:
        slow = Slow()
        slow.may_begin.set()
        limit = ConcurrencyLimit(slow)
        asked = [ask(limit, "192.0.2.1") for _ in range(3 * MAX_CONCURRENT)]
        await until(lambda: len(slow.running) == 3 * MAX_CONCURRENT)
        slow.may_end.set()
        await asyncio.gather(*asked)

    asyncio.run(scene())


def test_errors_and_disconnects_free_their_places() -> None:
    """Clients may also disconnect while they are waiting."""

    async def scene() -> None:
        slow = Slow()
        limit = ConcurrencyLimit(slow)
        broken = [ask(limit, "192.0.2.1", path="/broken") for _ in range(MAX_CONCURRENT - 1)]
        gone = [ask(limit, "192.0.2.1") for _ in range(3)]
        await until(lambda: len(slow.running) == MAX_CONCURRENT)
        for each in gone:
            each.cancel()
        slow.may_begin.set()
        await asyncio.gather(*broken, *gone, return_exceptions=True)
        slow.may_begin.clear()
        after = [ask(limit, "192.0.2.1") for _ in range(MAX_CONCURRENT)]
        await until(lambda: len(slow.running) >= 2 * MAX_CONCURRENT)
        slow.may_begin.set()
        slow.may_end.set()
        await asyncio.gather(*after)

    asyncio.run(scene())
