"""Limits the number of connections, and the time each may take to send a request.

uvicorn's own limits apply to requests, so they miss connections that send no request or only part of one.
"""

import asyncio
import resource
import socket
from collections import Counter, OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Final

import h11
import structlog
from uvicorn.protocols.http.h11_impl import H11Protocol

from web.http.rate_limits import network_of_host

_log = structlog.get_logger()

_OTHER_FILES: Final = 256
"""File descriptors reserved for everything except connections: database, uploads, static files."""

_MAX_CONNECTIONS: Final = 8192
"""Maximum number of connections. Each may use tens of KiB."""

_LOG_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """Connection limits."""

    total: int  # from all sources; beyond it, a new connection closes the one that has been idle longest
    per_source: int = 256  # per IPv4 address or IPv6 /48; additional ones are closed immediately
    header_seconds: float = 10.0  # for headers: from connecting, or from a later request's first byte
    rest_seconds: float = 15 * 60.0  # for the rest of a body that had not arrived when the response was sent


def listen(host: str, port: int, *, reader_seconds: float = 60.0) -> socket.socket:
    """Listen on an address.

    ``host`` is a name or an address; port 0 stands for any free port. A client that accepts no data for
    ``reader_seconds`` loses its connection. Raises OSError, or OverflowError if the port number is out of
    range.
    """
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.create_server(address[:2], family=family, backlog=512)
    # Each connection inherits this option. With it, the kernel detects a stalled reader even after the site
    # has written everything.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(reader_seconds * 1000))
    return listener


def raise_open_files() -> int:
    """Raise the limit on open files to this process's maximum. Return how many connections that allows."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return min(max(hard - _OTHER_FILES, hard // 2), _MAX_CONNECTIONS)


class Connections:
    """Counts connections. Only the server's event loop uses it.

    ``proxies`` are addresses and networks exempt from the per-source limit, since each serves many visitors.
    """

    def __init__(self, limits: ConnectionLimits, proxies: Iterable[str]) -> None:
        self.limits = limits
        self._proxies = tuple(ip_network(proxy) for proxy in proxies)
        self._open: Counter[str] = Counter()
        self._idle: OrderedDict[GuardedConnection, None] = OrderedDict()
        self._total = 0
        self._refused = 0
        self._next_line = 0.0

    def add(self, connection: "GuardedConnection", host: str, now: float) -> bool:
        """Count a connection. Return False if it must be closed, because there are too many."""
        source = network_of_host(host)
        self._open[source] += 1
        self._total += 1
        if self._open[source] > self.limits.per_source and not self._is_proxy(host):
            self._log_refused(now)
            return False
        if self._total > self.limits.total:
            self._log_refused(now)
            if not self._idle:
                return False
            longest, _ = self._idle.popitem(last=False)
            longest.abort()
        self.mark_idle(connection)
        return True

    def remove(self, connection: "GuardedConnection", host: str) -> None:
        """Forget a connection."""
        source = network_of_host(host)
        self._open[source] -= 1
        if not self._open[source]:
            del self._open[source]
        self._total -= 1
        self.mark_active(connection)

    def mark_idle(self, connection: "GuardedConnection") -> None:
        """Mark a connection as idle."""
        self._idle[connection] = None

    def mark_active(self, connection: "GuardedConnection") -> None:
        """Mark a connection as having a request in flight."""
        self._idle.pop(connection, None)

    def _is_proxy(self, host: str) -> bool:
        try:
            address = ip_address(host)
        except ValueError:
            return False
        return any(address in proxy for proxy in self._proxies)

    def _log_refused(self, now: float) -> None:
        """Log refused connections, at most once a minute."""
        self._refused += 1
        if now >= self._next_line:
            _log.warning("connections refused", refused=self._refused, open=self._total)
            self._refused, self._next_line = 0, now + _LOG_SECONDS


class GuardedConnection(H11Protocol):
    """A counted connection with a deadline for headers.

    uvicorn constructs the instances itself, so each server gets a subclass with its own ``limiter``: see
    :func:`guarded`.
    """

    limiter: Connections

    _host = ""
    _timer: asyncio.TimerHandle | None = None
    _reads_rest = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, or close it immediately."""
        super().connection_made(transport)
        self._host = self.client[0] if self.client else ""
        if self.limiter.add(self, self._host, self.loop.time()):
            self._start(self.limiter.limits.header_seconds)
        else:
            self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.limiter.remove(self, self._host)
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Handle received bytes; this stops uvicorn's keep-alive timer."""
        super().data_received(data)
        if self._has_request() or self.timeout_keep_alive_task is not None:
            return
        limits, reads_rest = self.limiter.limits, self.conn.their_state is h11.SEND_BODY
        if self._timer is None or reads_rest != self._reads_rest:
            self._start(limits.rest_seconds if reads_rest else limits.header_seconds)
            self._reads_rest = reads_rest

    def handle_events(self) -> None:
        """Stop the timer once a request's headers are complete."""
        super().handle_events()
        if self._has_request():
            self._stop()
            self.limiter.mark_active(self)

    def on_response_complete(self) -> None:
        """Wait for the next request, for at most uvicorn's keep-alive timeout."""
        super().on_response_complete()
        if not self._has_request() and not self.transport.is_closing():
            self.limiter.mark_idle(self)

    def abort(self) -> None:
        """Close immediately and drop unsent data."""
        self.transport.abort()

    def _start(self, seconds: float) -> None:
        self._stop()
        self._timer = self.loop.call_later(seconds, self.abort)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _has_request(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete


def guarded(connections: Connections) -> type[GuardedConnection]:
    """Return a connection class whose instances are counted and limited by ``connections``."""
    return type("GuardedConnection", (GuardedConnection,), {"limiter": connections})
