"""Requests of one address take turns; others don't wait for them."""

import asyncio
from collections.abc import Callable

from starlette.types import Message, Receive, Scope, Send

from web.http.turns import AT_ONCE, Turns


class Slow:
    """An application whose answers begin, and end, when the test says so."""

    def __init__(self) -> None:
        self.running: list[str] = []
        self.may_begin = asyncio.Event()
        self.may_end = asyncio.Event()

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer a request."""
        self.running.append(scope["client"][0])
        await self.may_begin.wait()
        if scope["path"] == "/broken":
            raise ValueError
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await self.may_end.wait()
        await send({"type": "http.response.body", "body": b""})


async def nothing() -> Message:
    """Receive nothing."""
    return {"type": "http.request"}


async def thrown_away(_message: Message) -> None:
    """Send nothing."""


def ask(turns: Turns, host: str, *, method: str = "GET", path: str = "/compare") -> asyncio.Task[None]:
    """Begin a request of an address."""
    scope = {"type": "http", "method": method, "path": path, "client": (host, 1), "headers": []}
    return asyncio.ensure_future(_asked(turns, scope))


async def _asked(turns: Turns, scope: Scope) -> None:
    await turns(scope, nothing, thrown_away)


async def until(condition: Callable[[], bool]) -> None:
    """Let others run until a condition holds."""
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - no event says that a task waits
            await asyncio.sleep(0)


def test_one_address_waits_for_itself_and_keeps_no_other_waiting() -> None:
    """Of its requests for pages: what it sends isn't held up, nor is anyone else."""

    async def scene() -> None:
        slow = Slow()
        turns = Turns(slow)
        asked = [ask(turns, "192.0.2.1") for _ in range(AT_ONCE + 3)]
        asked += [ask(turns, "192.0.2.1", method="POST"), ask(turns, "192.0.2.2")]
        await until(lambda: "192.0.2.2" in slow.running)
        assert slow.running.count("192.0.2.1") == AT_ONCE + 1
        slow.may_begin.set()
        slow.may_end.set()
        await asyncio.gather(*asked)
        assert slow.running.count("192.0.2.1") == AT_ONCE + 4

    asyncio.run(scene())


def test_an_answer_that_has_begun_holds_no_place() -> None:
    """Streams of events last for hours."""

    async def scene() -> None:
        slow = Slow()
        slow.may_begin.set()
        turns = Turns(slow)
        asked = [ask(turns, "192.0.2.1") for _ in range(3 * AT_ONCE)]
        await until(lambda: len(slow.running) == 3 * AT_ONCE)
        slow.may_end.set()
        await asyncio.gather(*asked)

    asyncio.run(scene())


def test_errors_and_visitors_who_leave_give_up_their_places() -> None:
    """Also those who leave while they wait."""

    async def scene() -> None:
        slow = Slow()
        turns = Turns(slow)
        broken = [ask(turns, "192.0.2.1", path="/broken") for _ in range(AT_ONCE - 1)]
        gone = [ask(turns, "192.0.2.1") for _ in range(3)]
        await until(lambda: len(slow.running) == AT_ONCE)
        for each in gone:
            each.cancel()
        slow.may_begin.set()
        await asyncio.gather(*broken, *gone, return_exceptions=True)
        slow.may_begin.clear()
        after = [ask(turns, "192.0.2.1") for _ in range(AT_ONCE)]
        await until(lambda: len(slow.running) >= 2 * AT_ONCE)
        slow.may_begin.set()
        slow.may_end.set()
        await asyncio.gather(*after)

    asyncio.run(scene())
