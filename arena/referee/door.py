"""The door of one seat: the socket that its bot dials, and the guard of every connection.

gRPC's own limits do not hold against a bot that means harm: frames of HTTP/2
that cost their sender nothing make the library take memory until its process
ends, and with it the match. So the library listens on a socket that no bot can
reach, and what a bot sends gets there through a :class:`FrameGuard`. What goes
to the bot is passed on unseen. Either way no more is kept than one buffer: who
does not read is not read from.
"""

import asyncio
import socket
from pathlib import Path
from typing import Final, Protocol, cast

from arena.referee.allowance import MAX_CONNECTIONS, MAX_CONNECTIONS_IN_ALL, Allowance, Breach
from arena.referee.frames import FrameGuard, NotHttp2

_BUFFER_BYTES: Final = 64 * 1024
"""Of each direction of a connection. Beyond it the other side is not read."""


class Watcher(Protocol):
    """Who hears what happens at a door."""

    def breached(self, breach: Breach) -> None:
        """Take note that the bot went beyond its limits."""

    def failed(self, error: Exception) -> None:
        """Take note that the arena's own part did not work."""


def listen(path: Path) -> socket.socket:
    """Bind a seat's socket. Who may dial it is decided by its owner and mode.

    Raises:
        OSError: It could not be bound.
    """
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    try:
        listening.bind(str(path))
        listening.listen(MAX_CONNECTIONS)
    except OSError:
        listening.close()
        raise
    return listening


class Door:
    """Joins a bot's connections to the server behind it.

    Args:
        listening: From :func:`listen`.
        inner: The socket of the server.
        allowance: Of the seat.
        watcher: Hears of breaches.
    """

    def __init__(self, listening: socket.socket, inner: Path, allowance: Allowance, watcher: Watcher) -> None:
        self._listening = listening
        self._inner = inner
        self._allowance = allowance
        self._watcher = watcher
        self._server: asyncio.Server | None = None
        self._accepted = 0
        self._outer: set[_Outer] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._left = asyncio.Event()

    async def open(self) -> None:
        """Take connections from now on."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_unix_server(
            lambda: _Outer(self), sock=self._listening, backlog=MAX_CONNECTIONS
        )

    def close(self) -> None:
        """Take no more connections."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def shut(self) -> None:
        """Take no more connections and cut those that there are, with whatever has not been sent."""
        self.close()
        for outer in list(self._outer):
            outer.cut()

    async def empty(self) -> None:
        """Wait until every connection has ended by itself. What was on its way has arrived then."""
        while self._outer:
            self._left.clear()
            await self._left.wait()

    def enter(self, outer: "_Outer") -> bool:
        """Tell whether a new connection may come in."""
        self._accepted += 1
        if self._accepted == MAX_CONNECTIONS_IN_ALL:
            self.close()
        if len(self._outer) == MAX_CONNECTIONS:
            return False
        self._outer.add(outer)
        return True

    def leave(self, outer: "_Outer") -> None:
        """Forget a connection that has ended."""
        self._outer.discard(outer)
        self._left.set()

    def guard(self) -> FrameGuard:
        """Return the guard of a new connection."""
        return FrameGuard(self._allowance)

    def breached(self, breach: Breach) -> None:
        """Cut every connection: the bot went beyond its limits."""
        self._watcher.breached(breach)
        self.shut()

    def reach(self, outer: "_Outer") -> None:
        """Begin to connect to the server within."""
        task = asyncio.get_running_loop().create_task(self._reach(outer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _reach(self, outer: "_Outer") -> None:
        try:
            await asyncio.get_running_loop().create_unix_connection(lambda: _Inner(outer), str(self._inner))
        except OSError as error:
            outer.cut()
            self._watcher.failed(error)


class _End(asyncio.Protocol):
    """One end of a connection. It slows the other one down when its own side does not read."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.other: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Hold the line."""
        # A stream's transport has this type by what it does: uvloop's has other ancestors.
        self.transport = cast("asyncio.Transport", transport)
        self.transport.set_write_buffer_limits(_BUFFER_BYTES)

    def pause_writing(self) -> None:
        """Read no more from the other side."""
        if self.other is not None and not self.other.is_closing():
            self.other.pause_reading()

    def resume_writing(self) -> None:
        """Read on."""
        if self.other is not None and not self.other.is_closing():
            self.other.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - why is all one
        """End the other side too, once it has what was on its way."""
        if self.other is not None:
            self.other.close()


class _Inner(_End):
    """The end at the server."""

    def __init__(self, outer: "_Outer") -> None:
        super().__init__()
        self._outer = outer
        self.other = outer.transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Pass on what has been waiting."""
        super().connection_made(transport)
        if self.transport is not None:
            self._outer.join(self.transport)

    def data_received(self, data: bytes) -> None:
        """Pass on what the server says."""
        if self.other is not None:
            self.other.write(data)


class _Outer(_End):
    """The end at the bot."""

    def __init__(self, door: Door) -> None:
        super().__init__()
        self._door = door
        self._guard = door.guard()
        self._waiting: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Come in, or not."""
        super().connection_made(transport)
        if not self._door.enter(self):
            self.cut()

    def data_received(self, data: bytes) -> None:
        """Pass on what the bot says, where it may say it."""
        try:
            self._guard.feed(data)
        except NotHttp2:
            self.cut()
        except Breach as breach:
            self._door.breached(breach)
        else:
            if self.other is not None:
                self.other.write(data)
            else:
                self._wait(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Go."""
        super().connection_lost(exc)
        self._door.leave(self)

    def join(self, inner: asyncio.Transport) -> None:
        """Talk to the server from now on."""
        if self.transport is None or self.transport.is_closing():
            inner.abort()
            return
        self.other = inner
        inner.write(b"".join(self._waiting))
        self._waiting.clear()
        self.transport.resume_reading()

    def cut(self) -> None:
        """End both sides at once."""
        for transport in (self.transport, self.other):
            if transport is not None:
                transport.abort()

    def _wait(self, data: bytes) -> None:
        """Keep what came before there is a line to the server. Whoever is silent gets none."""
        self._waiting.append(data)
        if self._guard.begun and self.transport is not None:
            self.transport.pause_reading()
            self._door.reach(self)
