"""Request bodies: their time limits, and reading uploads in pieces."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final

from fastapi import Request
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from web.http.errors import Problem

_PIECE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyTimeouts:
    """Time limits for a body. A slow sender must not occupy an upload slot or a connection for long."""

    idle_seconds: float = 30.0  # seconds until the next bytes
    grace_seconds: float = 30.0  # seconds that any body may take
    bytes_per_second: int = 64 * 1024  # average bytes per second required after the grace period
    total_seconds: float = 15 * 60.0  # seconds for a whole body, whatever its rate


BODY_TIMEOUTS: Final = BodyTimeouts()


class BodyTimeoutMiddleware:
    """ASGI middleware that sends 408 if a body arrives too slowly. ``clock`` returns monotonic seconds.

    The limits end when the response begins: a stream only waits for the client to disconnect.
    """

    def __init__(
        self, app: ASGIApp, timeouts: BodyTimeouts, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._app = app
        self._timeouts = timeouts
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        headers = Headers(scope=scope) if scope["type"] == "http" else {}
        if "content-length" in headers or "transfer-encoding" in headers:
            body = _Body(receive, send, self._timeouts, self._clock)
            receive, send = body.receive, body.answer
        await self._app(scope, receive, send)


class _Body:
    """A body being received, and the response to it."""

    def __init__(
        self, receive: Receive, send: Send, timeouts: BodyTimeouts, clock: Callable[[], float]
    ) -> None:
        self._receive = receive
        self._send = send
        self._timeouts = timeouts
        self._clock = clock
        self._began = clock()
        self._received_bytes = 0
        self._complete = False
        self._answered = False

    async def answer(self, message: Message) -> None:
        """Send a part of the response."""
        self._answered = True
        await self._send(message)

    async def receive(self) -> Message:
        """Return the next message. Raises Problem (408) if the sender is silent or too slow."""
        if self._complete or self._answered:
            return await self._receive()
        try:
            async with asyncio.timeout(self._timeout()):
                message = await self._receive()
        except TimeoutError:
            if self._answered:
                return await self._receive()
            raise self._timeout_problem() from None
        self._received_bytes += len(message.get("body", b""))
        self._complete = not message.get("more_body", False)
        return message

    def _timeout(self) -> float:
        """Return how many seconds the next bytes may take.

        Raises Problem (408) if the body's time is up.
        """
        left = self._seconds_left()
        if left <= 0:
            raise self._timeout_problem()
        return min(left, self._timeouts.idle_seconds)

    def _seconds_left(self) -> float:
        allowed = min(
            self._timeouts.grace_seconds + self._received_bytes / self._timeouts.bytes_per_second,
            self._timeouts.total_seconds,
        )
        return self._began + allowed - self._clock()

    def _timeout_problem(self) -> Problem:
        timeouts = self._timeouts
        if self._seconds_left() > 0:
            return Problem(
                408, f"No data arrived for {timeouts.idle_seconds:g} seconds.", hint="Send the request again."
            )
        if self._clock() - self._began >= timeouts.total_seconds:
            return Problem(
                408,
                f"The upload took longer than {timeouts.total_seconds:g} seconds.",
                hint="Use a faster connection, or send less data.",
            )
        return Problem(
            408,
            f"The upload was too slow: after the first {timeouts.grace_seconds:g} seconds, it must average "
            f"{timeouts.bytes_per_second // 1024} KiB per second.",
            hint="Use a faster connection, or send less data.",
        )


async def pieces(request: Request) -> AsyncIterator[bytes]:
    """Yield a body in pieces of about 1 MiB. Raises Problem if the sender stalls, is slow, or disconnects."""
    gathered = bytearray()
    try:
        async for chunk in request.stream():
            gathered += chunk
            if len(gathered) >= _PIECE:
                yield bytes(gathered)
                gathered.clear()
    except ClientDisconnect:
        raise Problem(
            400, "The connection was lost before the whole file had arrived.", hint="Send the request again."
        ) from None
    if gathered:
        yield bytes(gathered)
