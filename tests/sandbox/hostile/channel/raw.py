"""HTTP/2 by hand over the referee's socket, which can send anything, right or wrong.

Runs in a bot's container, so it needs only the standard library. Source: RFC 9113 (frames) and RFC 7541
(header blocks; it writes only literals without Huffman codes, and doesn't read the headers of responses).
"""

import os
import select
import socket
import struct
from typing import Final, NamedTuple

DATA: Final = 0
HEADERS: Final = 1
PRIORITY: Final = 2
RST_STREAM: Final = 3
SETTINGS: Final = 4
PING: Final = 6
GOAWAY: Final = 7
WINDOW_UPDATE: Final = 8
CONTINUATION: Final = 9
UNKNOWN: Final = 0x42

END_STREAM: Final = 1
ACK: Final = 1
END_HEADERS: Final = 4

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
FRAME_BYTES: Final = 16_384
"""The longest payload that every peer must accept."""

ENOUGH_BYTES: Final = 100_000_000
ENOUGH_FRAMES: Final = 10_000
"""A flood that nothing stops ends here."""


class Closed(Exception):
    """The referee has ended the connection."""


class Frame(NamedTuple):
    """One frame."""

    kind: int
    flags: int
    stream: int
    payload: bytes


def frame(
    kind: int, payload: bytes = b"", *, flags: int = 0, stream: int = 0, length: int | None = None
) -> bytes:
    """Return a frame's bytes. ``length`` is the length that it declares, if not its true one."""
    said = len(payload) if length is None else length
    return struct.pack(">I", said)[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def window_update(stream: int, size: int) -> bytes:
    """Return a frame that lets the referee send this many more bytes."""
    return frame(WINDOW_UPDATE, struct.pack(">I", size), stream=stream)


def _length(length: int) -> bytes:
    if length < 127:
        return bytes([length])
    rest, said = length - 127, bytearray([127])
    while rest > 127:
        said.append(rest & 127 | 128)
        rest >>= 7
    said.append(rest)
    return bytes(said)


def literal(name: str, value: str, *, remember: bool = False) -> bytes:
    """Return a header. With ``remember``, the referee also adds it to its table, as entry 62."""
    return (
        (b"\x40" if remember else b"\x00")
        + _length(len(name))
        + name.encode()
        + _length(len(value))
        + value.encode()
    )


def headers(block: bytes, *, stream: int) -> bytes:
    """Return a header block of any length: a HEADERS frame, then CONTINUATION frames as needed."""
    parts = [block[at : at + FRAME_BYTES] for at in range(0, len(block), FRAME_BYTES)]
    last = len(parts) - 1
    return b"".join(
        frame(
            CONTINUATION if number else HEADERS,
            part,
            flags=END_HEADERS if number == last else 0,
            stream=stream,
        )
        for number, part in enumerate(parts)
    )


CALL: Final = b"".join(
    literal(name, value)
    for name, value in (
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/arena.wire.v1.Referee/Play"),
        (":authority", "localhost"),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
    )
)
"""The header block of a call of Play."""


def dial() -> socket.socket:
    """Connect to the referee."""
    line = socket.socket(socket.AF_UNIX)
    line.connect(os.environ["ARENA_REFEREE"].removeprefix("unix://"))
    return line


class Line:
    """A connection that speaks HTTP/2.

    It reads while it sends, so that it doesn't block if both sides want to send.
    """

    def __init__(self) -> None:
        self.socket = dial()
        self.socket.settimeout(0)
        self.closed = False
        self.sent = 0
        self._inbox = bytearray()

    def greet(self, settings: bytes = b"") -> None:
        """Begin the connection."""
        self.send(PREFACE + frame(SETTINGS, settings))

    def send(self, data: bytes) -> None:
        """Send all data.

        Raises Closed if the referee has ended the connection.
        """
        rest = memoryview(data)
        while rest:
            readable, writable, _ = select.select([self.socket], [self.socket], [])
            if readable:
                self._fill()
            if writable:
                try:
                    count = self.socket.send(rest)
                except BlockingIOError:
                    continue
                except OSError as error:
                    self.closed = True
                    raise Closed from error
                self.sent += count
                rest = rest[count:]

    def frame(self) -> Frame:
        """Return the next frame.

        Raises Closed if the referee has ended the connection.
        """
        head = self._take(9)
        length = int.from_bytes(head[:3], "big")
        kind, flags, stream = struct.unpack(">BBI", head[3:])
        return Frame(kind, flags, stream, self._take(length))

    def wait_for_pong(self) -> None:
        """Wait until the referee has processed everything that was sent before.

        Drops other frames that arrive until then. Raises Closed if the referee has ended the connection.
        """
        self.send(frame(PING, b"in order"))
        while True:
            found = self.frame()
            if found.kind == PING and found.flags & ACK and found.payload == b"in order":
                return

    def wait_for_end(self) -> None:
        """Wait until the referee ends the connection, however long that takes."""
        try:
            while True:
                self._inbox.clear()
                select.select([self.socket], [], [])
                self._fill()
        except Closed:
            return

    def _take(self, count: int) -> bytes:
        while len(self._inbox) < count:
            select.select([self.socket], [], [])
            self._fill()
        taken = bytes(self._inbox[:count])
        del self._inbox[:count]
        return taken

    def _fill(self) -> None:
        try:
            data = self.socket.recv(65_536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.closed = True
            raise Closed
        self._inbox += data
