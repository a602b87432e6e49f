"""What is logged and counted of every request: never what was asked for, since that may hold a secret."""

import secrets
import time
from collections.abc import Callable
from typing import Final

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars

from web.metrics import SiteMetrics

_STREAM: Final = b"text/event-stream"
_PROBES: Final = frozenset({"/healthz", "/readyz"})
"""Asked for every few seconds by whoever looks after the site."""

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_UNKNOWN: Final = "unknown"
"""For a method or a route that there is none of: neither log nor metrics hold what anybody makes up."""


def _new_id() -> str:
    return secrets.token_hex(8)


class Observed:
    """ASGI middleware, the outermost: gives each request an id, which all lines about it have.

    Args:
        app: Answers.
        metrics: Count.
        clock: Seconds, monotonic.
        new_id: Another one for each request.
    """

    def __init__(
        self,
        app: ASGIApp,
        metrics: SiteMetrics,
        clock: Callable[[], float] = time.monotonic,
        new_id: Callable[[], str] = _new_id,
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._clock = clock
        self._new_id = new_id
        self._log: structlog.typing.FilteringBoundLogger = structlog.get_logger().bind()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; log and count it when it is over."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = self._clock()
        # Not unbound: the server may log what became of the request, in the same context, after this.
        bind_contextvars(request=self._new_id())
        answer = _Answer(send, self._metrics)
        try:
            await self._app(scope, receive, answer)
        finally:
            answer.over()
            self._note(scope, answer, self._clock() - began)

    def _note(self, scope: Scope, answer: "_Answer", seconds: float) -> None:
        route = _route_of(scope)
        method = scope["method"] if scope["method"] in _METHODS else _UNKNOWN
        self._metrics.answered(route, method, answer.status, None if answer.streams else seconds)
        log = self._log.debug if route in _PROBES else self._log.info
        log("request", method=method, route=route, status=answer.status, seconds=round(seconds, 5))


class _Answer:
    """Passes an answer on and remembers what it was.

    Attributes:
        status: Of HTTP; 0 before it begins.
        streams: Whether it is a stream of events.
    """

    def __init__(self, send: Send, metrics: SiteMetrics) -> None:
        self._send = send
        self._metrics = metrics
        self.status = 0
        self.streams = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            for name, value in message["headers"]:
                if name == b"content-type" and value.startswith(_STREAM):
                    self.streams = True
                    self._metrics.streams.inc()
        await self._send(message)

    def over(self) -> None:
        """Take note of its end."""
        if self.streams:
            self._metrics.streams.dec()


def _route_of(scope: Scope) -> str:
    """Return the template of a path; a file of ours counts as any other of its folder."""
    route = scope.get("route")
    if route is not None:
        return str(route.path)
    mounted: str = scope.get("root_path", "")
    return f"{mounted}/{{path}}" if mounted else _UNKNOWN
