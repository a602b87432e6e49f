"""Logs and counts requests, without paths or queries, which may contain a secret."""

import secrets
import time
from typing import Final

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars

from web.http.metrics import SiteMetrics

_STREAM: Final = b"text/event-stream"
_PROBES: Final = frozenset({"/healthz", "/readyz"})
"""Routes that a monitoring system requests every few seconds."""

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_UNKNOWN: Final = "unknown"
"""Stands for unknown methods and routes, so that callers can't fill the log or the metrics with them."""


class RequestLog:
    """The outermost ASGI middleware: gives each request an id, which is in all of the request's log lines."""

    def __init__(self, app: ASGIApp, metrics: SiteMetrics) -> None:
        self._app = app
        self._metrics = metrics
        self._log: structlog.typing.FilteringBoundLogger = structlog.get_logger().bind()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; log and count it at its end."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.monotonic()
        # Don't unbind: the server may still log lines about the request in this context.
        bind_contextvars(request=secrets.token_hex(8))
        answer = _Answer(send, self._metrics)
        try:
            await self._app(scope, receive, answer)
        finally:
            answer.end()
            self._record(scope, answer, time.monotonic() - began)

    def _record(self, scope: Scope, answer: "_Answer", seconds: float) -> None:
        route = _route_of(scope)
        method = scope["method"] if scope["method"] in _METHODS else _UNKNOWN
        self._metrics.count_request(route, method, answer.status, None if answer.streams else seconds)
        log = self._log.debug if route in _PROBES else self._log.info
        log("request", method=method, route=route, status=int(answer.status), seconds=round(seconds, 5))


class _Answer:
    """Passes a response on and records its status and kind."""

    def __init__(self, send: Send, metrics: SiteMetrics) -> None:
        self._send = send
        self._metrics = metrics
        self.status = 0  # 0 before the response starts
        self.streams = False  # whether the response is an event stream

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            for name, value in message["headers"]:
                if name == b"content-type" and value.startswith(_STREAM):
                    self.streams = True
                    self._metrics.streams.inc()
        await self._send(message)

    def end(self) -> None:
        """Count an event stream's end."""
        if self.streams:
            self._metrics.streams.dec()


def _route_of(scope: Scope) -> str:
    """Return the path template of a request's route; all static files share one."""
    route = scope.get("route")
    if route is not None:
        return str(route.path)
    mounted: str = scope.get("root_path", "")
    return f"{mounted}/{{path}}" if mounted else _UNKNOWN
