"""The relay of one seat: its bot's socket, with a guard on every connection.

gRPC's own limits don't stop a malicious bot: HTTP/2 frames that cost their sender nothing make the library
allocate memory until the referee's process dies, which ends the match. So the library listens on a socket
that no bot can reach, and the bot's bytes get there through a :class:`FrameGuard`. Bytes to the bot pass
unchecked. Each direction buffers a bounded amount: if one side stops reading, the relay stops reading from
the other.
"""

import asyncio
import socket
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol, cast

from arena.play.referee.clock import AttendedTime
from arena.play.referee.frames import (
    MAX_CONNECTIONS,
    MAX_CONNECTIONS_IN_ALL,
    Breach,
    DataFrames,
    FrameGuard,
    NotHttp2,
    SendBudget,
)

_BUFFER_BYTES: Final = 64 * 1024
"""Size of the buffer for each direction of a connection. While it is full, the relay stops reading."""


class RelayWatcher(Protocol):
    """Receives a relay's events."""

    def breached(self, breach: Breach) -> None:
        """Handle a bot that exceeded its limits."""

    def failed(self, error: Exception) -> None:
        """Handle a failure on the arena's side."""


SO_PASSRIGHTS: Final = 83
"""Whether a socket's peers may pass it open files. Source: Linux 6.16, include/uapi/asm-generic/socket.h."""


def listen(path: Path) -> socket.socket:
    """Bind a seat's socket. Its owner and mode decide who may connect to it.

    Bots can't pass open files on it. The referee would have to close them, which a bot can delay: for
    example, the last close of a pipe waits for its lock. Before Linux 6.16, nothing prevents that.
    """
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    try:
        with suppress(OSError):  # an older kernel
            # Accepted connections inherit it.
            listening.setsockopt(socket.SOL_SOCKET, SO_PASSRIGHTS, 0)
        listening.bind(str(path))
        listening.listen(MAX_CONNECTIONS)
    except OSError:
        listening.close()
        raise
    return listening


class Relay:
    """Connects a bot to the server at ``inner``."""

    def __init__(
        self,
        listening: socket.socket,
        inner: Path,
        budget: SendBudget,
        watcher: RelayWatcher,
        now: AttendedTime,
    ) -> None:
        self._now = now
        self._expects = False
        self._held = False  # whether the bot has stopped reading, so that bytes for it wait here
        # When the first message after `expect` went to the bot. It isn't updated if the bot sent something in
        # between, because the bot may have delayed the message by HTTP/2 flow control.
        self.told_at = 0.0
        self.heard_at = 0.0  # when the last bytes came from the bot
        self._listening = listening
        self._inner = inner
        self.budget = budget
        self._watcher = watcher
        self._server: asyncio.Server | None = None
        self._accepted = 0
        self._outer: set[_Outer] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._left = asyncio.Event()

    async def open(self) -> None:
        """Accept connections."""
        # Not `create_unix_server`, even for a Unix socket: from Python 3.13 on it looks up the socket's path,
        # which the referee may be unable to reach.
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: _Outer(self), sock=self._listening, backlog=MAX_CONNECTIONS
        )

    def close(self) -> None:
        """Stop accepting connections."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def mute(self) -> None:
        """Accept no connections and read nothing more. Open connections can still be written to."""
        self.close()
        for outer in self._outer:
            outer.mute()

    def shut(self) -> None:
        """Accept no connections and abort the open ones, dropping unsent data."""
        self.close()
        for outer in list(self._outer):
            outer.cut()

    async def empty(self) -> None:
        """Wait until the peers have ended every connection, so that all data in flight has arrived."""
        while self._outer:
            self._left.clear()
            await self._left.wait()

    def enter(self, outer: "_Outer") -> bool:
        """Register a new connection. Return False if there are too many."""
        self._accepted += 1
        if self._accepted == MAX_CONNECTIONS_IN_ALL:
            self.close()
        if len(self._outer) == MAX_CONNECTIONS:
            return False
        self._outer.add(outer)
        return True

    def expect(self) -> None:
        """Record that a message to the bot is about to be sent."""
        self._expects = not self._held

    def tell(self) -> None:
        """Record that a message goes to the bot."""
        if self._expects:
            self._expects = False
            self.told_at = self._now()

    def hear(self) -> None:
        """Record that bytes came from the bot."""
        self._expects = False
        self.heard_at = self._now.arrived()

    def hold(self, *, held: bool) -> None:
        """Record that the bot has stopped reading, or reads again. Delays in between are the bot's own."""
        self._held = held
        self._expects = False

    def leave(self, outer: "_Outer") -> None:
        """Forget a connection that has ended."""
        self._outer.discard(outer)
        self._left.set()

    def breached(self, breach: Breach) -> None:
        """Read nothing more from the bot, which exceeded its limits."""
        self.mute()
        self._watcher.breached(breach)

    def reach(self, outer: "_Outer") -> None:
        """Start connecting to the inner server."""
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
    """One end of a connection. While its peer doesn't read, reading at the other end is paused."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.other: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        # A cast: uvloop's transport behaves like asyncio.Transport but doesn't inherit from it.
        self.transport = cast("asyncio.Transport", transport)
        self.transport.set_write_buffer_limits(_BUFFER_BYTES)

    def pause_writing(self) -> None:
        """Stop reading from the other side."""
        if self.other is not None and not self.other.is_closing():
            self.other.pause_reading()

    def resume_writing(self) -> None:
        """Read from the other side again."""
        if self.other is not None and not self.other.is_closing():
            self.other.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the reason doesn't matter
        """Close the other side too, after flushing it."""
        if self.other is not None:
            self.other.close()


class _Inner(_End):
    """The end at the server."""

    def __init__(self, outer: "_Outer") -> None:
        super().__init__()
        self._outer = outer
        self._messages = DataFrames()
        self.other = outer.transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Pass on the bytes that waited for this connection."""
        super().connection_made(transport)
        if self.transport is not None:
            self._outer.join(self.transport)

    def data_received(self, data: bytes) -> None:
        """Pass the server's bytes on."""
        if self.other is not None:
            self.other.write(data)
            # Other frames don't count: the bot can choose when gRPC sends them, and let messages wait.
            if self._messages.begins(data):
                self._outer.relay.tell()


class _Outer(_End):
    """The end at the bot."""

    def __init__(self, relay: Relay) -> None:
        super().__init__()
        self.relay = relay
        self._guard = FrameGuard(relay.budget)
        self._muted = False
        self._waiting: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register with the relay, or abort."""
        super().connection_made(transport)
        if not self.relay.enter(self):
            self.cut()

    def data_received(self, data: bytes) -> None:
        """Pass the bot's bytes on if the guard allows them."""
        if self._muted:
            return
        self.relay.hear()
        try:
            self._guard.feed(data)
        except NotHttp2:
            self.cut()
        except Breach as breach:
            self.relay.breached(breach)
        else:
            if self.other is not None:
                self.other.write(data)
            else:
                self._wait(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the relay."""
        super().connection_lost(exc)
        self.relay.leave(self)

    def pause_writing(self) -> None:
        """Stop reading from the server, because the bot doesn't read."""
        super().pause_writing()
        self.relay.hold(held=True)

    def resume_writing(self) -> None:
        """Read from the server again."""
        self.relay.hold(held=False)
        super().resume_writing()

    def join(self, inner: asyncio.Transport) -> None:
        """Connect to the server, and send it the bytes that waited."""
        if self.transport is None or self.transport.is_closing():
            inner.abort()
            return
        self.other = inner
        inner.write(b"".join(self._waiting))
        self._waiting.clear()
        self.transport.resume_reading()

    def mute(self) -> None:
        """Drop everything the bot sends from now on."""
        self._muted = True
        self._waiting.clear()
        if self.transport is not None and not self.transport.is_closing():
            self.transport.pause_reading()

    def cut(self) -> None:
        """Abort both sides."""
        for transport in (self.transport, self.other):
            if transport is not None:
                transport.abort()

    def _wait(self, data: bytes) -> None:
        """Buffer bytes until the server is connected, which happens only once the preface is complete."""
        self._waiting.append(data)
        if self._guard.begun and self.transport is not None:
            self.transport.pause_reading()
            self.relay.reach(self)
