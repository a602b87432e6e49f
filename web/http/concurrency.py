"""Limits the concurrent requests per address, so that one client can't keep others waiting."""

from asyncio import Semaphore
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from web.http.errors import Problem
from web.http.rate_limits import network_of_visitor

MAX_CONCURRENT: Final = 8
"""Maximum number of concurrent requests from one address; all addresses share 40 threads."""

MAX_BODY_BYTES: Final = 64 * 1024
"""Limit for the bodies of forms and data, in bytes. Routes that accept more set their own."""


@dataclass(slots=True)
class _ClientRequests:
    """The places for requests from one address."""

    slots: Semaphore = field(default_factory=lambda: Semaphore(MAX_CONCURRENT))
    requests: int = 0  # number of requests that are running or waiting


class ConcurrencyLimit:
    """ASGI middleware that runs at most ``MAX_CONCURRENT`` requests from one address at a time; others wait.

    A request with a body takes a place only once the body has arrived, so that a slow sender doesn't keep
    others waiting. Uploads (PUT) are exempt: they take a long time, and have their own limits.

    A request gives up its place when its response begins: a page is complete at that time, and an event
    stream can last for minutes. Not thread-safe: only one event loop may use it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._clients: dict[str, _ClientRequests] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on when its turn comes."""
        if scope["type"] != "http" or scope["method"] == "PUT":
            await self._app(scope, receive, send)
            return
        if scope["method"] not in {"GET", "HEAD"}:
            receive = await _buffer_body(receive)
        async with self._slot(network_of_visitor(Request(scope))) as release:

            async def answer(message: Message) -> None:
                release()
                await send(message)

            await self._app(scope, receive, answer)

    @asynccontextmanager
    async def _slot(self, source: str) -> AsyncIterator[Callable[[], None]]:
        """Wait for a place; yield a function that gives it up. Repeated calls to the function do nothing."""
        client = self._clients.setdefault(source, _ClientRequests())
        client.requests += 1
        held = False

        def release() -> None:
            nonlocal held
            if held:
                held = False
                client.slots.release()

        try:
            held = await client.slots.acquire()
            yield release
        finally:
            release()
            client.requests -= 1
            if not client.requests:
                del self._clients[source]


async def _buffer_body(receive: Receive) -> Receive:
    """Receive a body, or its beginning if it is too long; return a function that repeats the messages."""
    messages: deque[Message] = deque()
    refused: Problem | None = None
    size = 0
    try:
        while size <= MAX_BODY_BYTES:
            message = await receive()
            messages.append(message)
            size += len(message.get("body", b""))
            if not message.get("more_body", False):
                break
    except Problem as problem:  # the body arrived too slowly
        refused = problem

    async def replay_messages() -> Message:
        if messages:
            return messages.popleft()
        if refused is not None:
            raise refused
        return await receive()

    return replay_messages
