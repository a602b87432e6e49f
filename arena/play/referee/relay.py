"""The relay for one seat: its bot's socket, with a guard on every connection.

gRPC's own limits don't stop a malicious bot: some HTTP/2 frames cost their sender nothing, yet make the
library allocate memory until the referee's process dies, which ends the match. Therefore, the library listens
on a socket that no bot can reach, and the bot's bytes reach the library only through a :class:`FrameGuard`.
Bytes to the bot pass unchecked. Each direction buffers a bounded amount: if one side stops reading, the relay
stops reading from the other.

A bot can make system calls on its socket slow, because they wake everything that waits for the bot's end of
the connection, and a bot can register that end in epolls a million times. The relay limits what this costs:

* It passes what the bot sends through a pipe with room for one packet, so that a read wakes them only once,
  and stops if that is slow. Reading many small packets in one call would wake them 70 times.
* The clock doesn't run during a slow call.
* The bot's send budget limits the processor time of these calls.

Before Linux 6.16, a bot can pass open files over its socket. The thread that reads from the socket has to
close them, and a bot can delay that: for example, the last close of a pipe waits for the pipe's lock. For
that reason, each relay has its own thread for reading from the bot's connections if they can carry files, and
for closing them, so that a bot can delay only itself.
"""

import asyncio
import fcntl
import os
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from arena.play.referee.clock import RefereeClock
from arena.play.referee.frames import (
    MAX_CONNECTIONS,
    MAX_CONNECTIONS_PER_MATCH,
    Breach,
    DataFrames,
    FrameGuard,
    NotHttp2,
    SendBudget,
)

_BUFFER_BYTES: Final = 64 * 1024
"""Maximum number of bytes read at once. They are passed on before more are read."""

_PIPE_BYTES: Final = 4096
"""The smallest capacity of a pipe: a page, which holds only bytes of one packet."""

_SLOW_SECONDS: Final = 0.001
"""Reading from a bot, or sending to it, takes longer only if the bot makes it slow."""


class RelayWatcher(Protocol):
    """Receives a relay's events."""

    def breached(self, breach: Breach) -> None:
        """Handle a bot that exceeded its limits."""

    def failed(self, error: Exception) -> None:
        """Handle a failure on the arena's side."""


SO_PASSRIGHTS: Final = 83
"""Socket option: whether peers may pass open files. Source: Linux 6.16, include/uapi/asm-generic/socket.h."""


def listen(path: Path) -> socket.socket:
    """Bind a seat's socket. Its owner and mode determine who may connect to it.

    From Linux 6.16 on, bots can't pass open files over it. Such files could delay the end of the
    referee's process.
    """
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    try:
        with suppress(OSError):  # an older kernel
            # Accepted connections inherit this setting.
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
        now: RefereeClock,
    ) -> None:
        self._now = now
        self._expects_message = False
        self._blocked = False  # whether the bot has stopped reading, so that bytes for it wait here
        # When the first message after `expect_message` was sent to the bot. Not updated if the bot sent
        # something in between, because the bot may have delayed the message through HTTP/2 flow control.
        self.sent_at = 0.0
        self.received_at = 0.0  # when the last bytes came from the bot
        self._listening = listening
        self.inner = inner
        self.budget = budget
        self.watcher = watcher
        self.can_receive_files = _can_receive_files(listening)
        self._thread = ThreadPoolExecutor(1)
        self._last_call: Future[object] | None = None
        self._pipe: tuple[int, int] | None = None  # from `open` until the last connection has ended
        self._accepting = False
        self._accepted = 0
        self._connections: set[_Connection] = set()
        self._removed = asyncio.Event()

    def open(self) -> None:
        """Accept connections."""
        self._accepting = True
        self._pipe = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.fcntl(self._pipe[1], fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        asyncio.get_running_loop().add_reader(self._listening.fileno(), self._accept)

    def close(self) -> None:
        """Stop accepting connections."""
        if self._accepting:
            self._accepting = False
            asyncio.get_running_loop().remove_reader(self._listening.fileno())
            self.submit(self._listening.close)
            self._close_unused_pipe()

    def stop_reading(self) -> None:
        """Accept no more connections and read nothing more. Open connections can still be written to."""
        self.close()
        for connection in self._connections:
            connection.stop_reading()

    def close_connections(self) -> None:
        """Accept no more connections and end the open ones, dropping unsent data."""
        self.close()
        for connection in list(self._connections):
            connection.end()

    async def wait_closed(self) -> None:
        """Wait until the peers have ended every connection, so that all data in flight has arrived."""
        while self._connections:
            self._removed.clear()
            await self._removed.wait()

    def _accept(self) -> None:
        try:
            bot, _ = self._listening.accept()
        except BlockingIOError:
            return  # the bot has already disconnected
        except OSError as error:
            self.close()
            if (
                not self._connections
            ):  # a bot that has a connection may have opened too many of the host's files
                self.watcher.failed(error)
            return
        if len(self._connections) < MAX_CONNECTIONS:
            bot.setblocking(False)  # noqa: FBT003 - the function's own signature
            self._connections.add(_Connection(self, bot))
        else:
            self.submit(bot.close)
        self._accepted += 1
        if self._accepted == MAX_CONNECTIONS_PER_MATCH:
            self.close()

    def submit(self, call: Callable[..., object], *arguments: object) -> bool:
        """Make a call in the thread. Returns True if the thread was idle."""
        idle = self._last_call is None or self._last_call.done()
        self._last_call = self._thread.submit(call, *arguments)
        return idle

    def receive(self, source: socket.socket) -> bytes:
        """Read one packet, or a part of it, from a bot's connection. Raises OSError."""
        assert self._pipe is not None  # noqa: S101 - it is closed after the last connection
        outlet, inlet = self._pipe
        count = os.splice(source.fileno(), inlet, _BUFFER_BYTES, flags=os.SPLICE_F_NONBLOCK)
        return os.read(outlet, count)

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Count the processor time of a call on the socket. If it is slow, the clock stops for it.

        The context must not pass any event on, because the clock hasn't been stopped yet.
        """
        began = time.thread_time()
        try:
            yield
        finally:
            seconds = time.thread_time() - began
            if seconds > _SLOW_SECONDS:
                self._now.exclude(seconds)
            self.count_processor_time(seconds)

    def count_processor_time(self, seconds: float) -> None:
        """Count the processor time of calls on the bot's sockets."""
        try:
            self.budget.count_processor_time(seconds)
        except Breach as breach:
            self.breached(breach)

    def _close_unused_pipe(self) -> None:
        if self._pipe is not None and not self._accepting and not self._connections:
            for end in self._pipe:
                self.submit(os.close, end)  # after reads in the thread
            self._pipe = None

    def expect_message(self) -> None:
        """Record that a message to the bot is about to be sent."""
        self._expects_message = not self._blocked

    def message_sent(self) -> None:
        """Record that a message is being sent to the bot."""
        if self._expects_message:
            self._expects_message = False
            self.sent_at = self._now()

    def bytes_received(self) -> None:
        """Record that bytes came from the bot."""
        self._expects_message = False
        self.received_at = self._now.earliest_arrival()

    def set_blocked(self, *, blocked: bool) -> None:
        """Record that the bot has stopped or resumed reading. Delays until it resumes count against it."""
        self._blocked = blocked
        self._expects_message = False

    def remove(self, connection: "_Connection") -> None:
        """Forget a connection that has ended."""
        self._connections.discard(connection)
        self._removed.set()
        self._close_unused_pipe()

    def breached(self, breach: Breach) -> None:
        """Read nothing more from the bot, which exceeded its limits."""
        self.stop_reading()
        self.watcher.breached(breach)


def _can_receive_files(listening: socket.socket) -> bool:
    """Return True if the peers of a socket can pass open files."""
    try:
        return bool(listening.getsockopt(socket.SOL_SOCKET, SO_PASSRIGHTS))
    except OSError:
        return True  # Linux before 6.16


class _Connection:
    """A bot's connection, paired with one to the server."""

    def __init__(self, relay: Relay, bot: socket.socket) -> None:
        self.relay = relay
        self._bot = bot
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        self._from_bot = _FromBot(self, bot, self._server)
        self._to_bot = _ToBot(self, self._server, bot)
        self._ended = False
        self._from_bot.start()

    def connect(self) -> bool:
        """Connect to the server. If that fails, close both sides and return False."""
        try:
            self._server.connect(str(self.relay.inner))
        except (FileNotFoundError, ConnectionRefusedError):
            # Only the bot's own bytes reach its server, and can end it: grpcio 1.85 ends a server, but not
            # its open streams, when a call's method name is not UTF-8.
            self.end()
            return False
        except OSError as error:
            self.relay.watcher.failed(error)
            self.end()
            return False
        self._to_bot.start()
        return True

    def stop_reading(self) -> None:
        """Read nothing more from the bot, and drop what has not been forwarded."""
        self._from_bot.stop()

    def server_ended(self) -> None:
        """End the stream to the bot. From now on, drop what the bot sends, until it closes the connection.

        If the bot's library sent something to a closed socket, it would drop what it had not read yet.
        """
        self._to_bot.stop()
        self._from_bot.stop_forwarding()
        self.relay.submit(self._shut_down)

    def _shut_down(self) -> None:
        with suppress(OSError):  # the bot has closed its side
            self._bot.shutdown(socket.SHUT_WR)

    def end(self) -> None:
        """Close both sides, dropping unsent data."""
        if not self._ended:
            self._ended = True
            self._from_bot.stop()
            self._to_bot.stop()
            # Before Linux 6.8, closing any Unix socket may close files that a bot has passed.
            self.relay.submit(self._server.close)
            self.relay.submit(self._bot.close)
            self.relay.remove(self)


class _Direction:
    """One direction of a connection. It doesn't read while anything is unsent."""

    def __init__(self, connection: _Connection, source: socket.socket, sink: socket.socket) -> None:
        self._connection = connection
        self._relay = connection.relay
        self._loop = asyncio.get_running_loop()
        self._source = source
        self._sink = sink
        self._unsent = b""
        self._stopped = False

    def start(self) -> None:
        """Start reading from the source."""
        self._loop.add_reader(self._source.fileno(), self._on_readable)

    def stop(self) -> None:
        """Relay nothing more, and drop unsent data."""
        self._stopped = True
        self._loop.remove_reader(self._source.fileno())
        self._loop.remove_writer(self._sink.fileno())

    def _on_readable(self) -> None:
        self._on_data(self._read())

    def _read(self) -> bytes | None:
        """Return the bytes read, b"" at the end of the stream, or None if there was nothing to read."""
        try:
            return self._receive()
        except BlockingIOError:
            return None  # Linux dropped an out-of-band byte
        except OSError:
            return b""

    def _receive(self) -> bytes:
        return self._source.recv(_BUFFER_BYTES)

    def _on_data(self, data: bytes | None) -> None:
        if data == b"":
            self._on_end()
        elif data is not None:
            self._handle(data)

    def _on_end(self) -> None:
        """Handle the end of the source's stream."""
        raise NotImplementedError

    def _handle(self, data: bytes) -> None:
        """Handle bytes from the source."""
        raise NotImplementedError

    def _send_some(self, data: bytes) -> int:
        return self._sink.send(data)

    def _send(self, data: bytes) -> None:
        try:
            sent = self._send_some(data)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._connection.end()
            return
        was_paused, self._unsent = bool(self._unsent), data[sent:]
        if was_paused != bool(self._unsent):
            self._set_paused(paused=not was_paused)

    def _set_paused(self, *, paused: bool) -> None:
        """Stop reading until the sink accepts bytes again, or resume reading."""
        if paused:
            self._loop.remove_reader(self._source.fileno())
            self._loop.add_writer(self._sink.fileno(), lambda: self._send(self._unsent))
        else:
            self._loop.remove_writer(self._sink.fileno())
            self.start()


class _FromBot(_Direction):
    """The bytes from the bot, which the guard checks."""

    def __init__(self, connection: _Connection, source: socket.socket, sink: socket.socket) -> None:
        super().__init__(connection, source, sink)
        self._guard = FrameGuard(self._relay.budget)
        self._unforwarded = b""  # bytes that arrived before the connection to the server was made
        self._connected = False
        self._forwards = True
        self._was_idle = True  # whether the thread was idle when it was to read

    def stop_forwarding(self) -> None:
        """Check the bot's bytes as before, but drop them."""
        self._forwards = False
        if self._unsent and not self._stopped:
            self._set_paused(paused=False)
        self._unsent = b""

    def _on_end(self) -> None:
        self._connection.end()

    def _on_readable(self) -> None:
        self._relay.bytes_received()
        if self._relay.can_receive_files:
            self._loop.remove_reader(self._source.fileno())
            self._was_idle = self._relay.submit(self._read_in_thread)
            return
        with self._relay.measured():
            data = self._read()
        if not self._stopped:
            self._on_data(data)

    def _receive(self) -> bytes:
        # Use wall-clock time: closing a file that the bot has passed may block, and data that arrives during
        # the close must not count as having arrived before it.
        end = time.monotonic() + _SLOW_SECONDS
        data = read = self._relay.receive(self._source)
        with suppress(OSError):  # nothing more has arrived, or the next read fails too
            while read and len(data) < _BUFFER_BYTES and time.monotonic() < end:
                read = self._relay.receive(self._source)
                data += read
        return data

    def _read_in_thread(self) -> None:
        began = time.thread_time()
        data = self._read()
        self._loop.call_soon_threadsafe(self._resume, data, time.thread_time() - began)

    def _resume(self, data: bytes | None, seconds: float) -> None:
        if not self._was_idle:  # the bot must not gain time by delaying the thread through other connections
            self._relay.bytes_received()
        self._relay.count_processor_time(seconds)
        if not self._stopped:
            self.start()
            self._on_data(data)

    def _handle(self, data: bytes) -> None:
        try:
            self._guard.feed(data)
        except NotHttp2:
            self._connection.end()
        except Breach as breach:
            self._relay.breached(breach)
        else:
            if not self._forwards:
                return
            if self._connected:
                self._send(data)
                return
            self._unforwarded += data
            if self._guard.has_preface and self._connection.connect():
                self._connected = True
                data, self._unforwarded = self._unforwarded, b""
                self._send(data)


class _ToBot(_Direction):
    """The bytes from the server."""

    def __init__(self, connection: _Connection, source: socket.socket, sink: socket.socket) -> None:
        super().__init__(connection, source, sink)
        self._messages = DataFrames()

    def _on_end(self) -> None:
        self._connection.server_ended()

    def _send_some(self, data: bytes) -> int:
        with self._relay.measured():
            return self._sink.send(data)

    def _handle(self, data: bytes) -> None:
        self._send(data)
        # Ignore other frames: even a bot that holds back messages can choose when gRPC sends such frames.
        if self._messages.contains_start(data):
            self._relay.message_sent()

    def _set_paused(self, *, paused: bool) -> None:
        self._relay.set_blocked(blocked=paused)
        super()._set_paused(paused=paused)
