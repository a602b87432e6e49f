"""The guard for one connection: checks every byte that a bot sends before the gRPC library sees it.

It does no I/O, and buffers only an incomplete frame header and message prefix. It tracks the boundaries of
HTTP/2 frames and streams (RFC 9113), and of gRPC messages. It doesn't parse headers or messages, and doesn't
see the bytes that go to the bot. :class:`DataFrames` finds the DATA frames in those.
"""

import struct
from typing import Final, NamedTuple

from arena.protocol.faults import Fault

MAX_CONNECTIONS: Final = 4
"""Maximum number of open connections per seat. Additional connections are closed immediately."""

MAX_CONNECTIONS_PER_MATCH: Final = 64
"""Maximum number of connections per seat in a match. After that, the seat's socket stops listening."""


class Breach(Exception):
    """A bot exceeded its send budget or one of the channel's limits."""

    def __init__(self, fault: Fault, why: str) -> None:
        super().__init__(why)
        self.fault = fault
        self.why = why


class Limit(NamedTuple):
    """A limit on what a bot may send: ``initial``, plus more for every message and request."""

    name: str  # in the plural
    initial: int  # allowed from the start
    per_message: int = 0  # added for every message that the referee sends to this bot
    per_request: int = 0  # added for every decision that the referee requests from this bot


DATA: Final = 0x0
HEADERS: Final = 0x1
PRIORITY: Final = 0x2
RST_STREAM: Final = 0x3
SETTINGS: Final = 0x4
PING: Final = 0x6
GOAWAY: Final = 0x7
WINDOW_UPDATE: Final = 0x8
EMPTY_DATA: Final = 0x100
"""Not a type on the wire: DATA without a payload, which costs its sender nothing."""

FRAME_LIMITS: Final = {
    DATA: Limit("DATA frames", 256, 8, 8),
    HEADERS: Limit("HEADERS frames", MAX_CONNECTIONS_PER_MATCH),
    PRIORITY: Limit("PRIORITY frames", MAX_CONNECTIONS_PER_MATCH),
    RST_STREAM: Limit("RST_STREAM frames", 32),
    SETTINGS: Limit("SETTINGS frames", 256, 8),
    PING: Limit("PING frames", 256, 8),
    GOAWAY: Limit("GOAWAY frames", MAX_CONNECTIONS_PER_MATCH),
    WINDOW_UPDATE: Limit("WINDOW_UPDATE frames", 256, 16),
    EMPTY_DATA: Limit("empty DATA frames", MAX_CONNECTIONS_PER_MATCH),
}
"""Limits by frame type."""

MESSAGE_LIMIT: Final = Limit("messages", 16, per_request=2)
MOVE_LIMIT: Final = Limit("moves", 16, per_request=2)
MESSAGE_BYTES_LIMIT: Final = Limit("bytes of messages", 48 * 1024, per_request=1024)
"""The initial budget fits into the 64 KiB of HTTP/2's initial flow-control window."""

PROCESSOR_TIME_LIMIT: Final = Limit("microseconds of the relay's processor time", 500_000, 1_000, 200)
"""Reading from the bot or sending to it takes about 10 microseconds, unless the bot makes it slow."""

_LIMITS: Final = (
    *FRAME_LIMITS.values(),
    MESSAGE_LIMIT,
    MOVE_LIMIT,
    MESSAGE_BYTES_LIMIT,
    PROCESSOR_TIME_LIMIT,
)


class SendBudget:
    """One seat's remaining send budget, across all its connections."""

    def __init__(self) -> None:
        self._sent = 0
        self._requests = 0
        self._used = dict.fromkeys((limit.name for limit in _LIMITS), 0)

    def grant(self, requests: int) -> None:
        """Allow more, because the referee is sending a message with this many requests."""
        self._sent += 1
        self._requests += requests

    def count_frame(self, kind: int) -> None:
        """Count a frame of a type in :data:`FRAME_LIMITS`. Raises Breach if it exceeds the limit."""
        self._count_on_channel(FRAME_LIMITS[kind], 1)

    def count_processor_time(self, seconds: float) -> None:
        """Count processor time that the relay needs for calls on sockets. Raises Breach at the limit."""
        self._count_on_channel(PROCESSOR_TIME_LIMIT, int(seconds * 1e6))

    def count_message(self, size: int) -> None:
        """Count a message of ``size`` bytes when it begins.

        Raises Breach if there are too many messages or bytes.
        """
        self._count_sent(MESSAGE_LIMIT, 1)
        self._count_sent(MESSAGE_BYTES_LIMIT, size)

    def count_moves(self, count: int) -> None:
        """Count the moves in a message. Raises Breach if there are too many."""
        self._count_sent(MOVE_LIMIT, count)

    def used(self) -> dict[Limit, tuple[int, int]]:
        """Return (used, allowed) for every limit."""
        return {limit: (self._used[limit.name], self._allowed(limit)) for limit in _LIMITS}

    def _count_on_channel(self, limit: Limit, count: int) -> None:
        if self._exceeds(limit, count):
            counts = f"{self._used[limit.name]:,} {limit.name} (limit {self._allowed(limit):,})"
            raise channel_limit_exceeded(counts)

    def _count_sent(self, limit: Limit, count: int) -> None:
        if self._exceeds(limit, count):
            requests = "1 request" if self._requests == 1 else f"{self._requests:,} requests"
            why = f"more than {self._allowed(limit):,} {limit.name} for {requests}"
            raise Breach(Fault.EXPELLED, why)

    def _exceeds(self, limit: Limit, count: int) -> bool:
        used = self._used[limit.name] = self._used[limit.name] + count
        return used > limit.initial and used > self._allowed(limit)

    def _allowed(self, limit: Limit) -> int:
        return limit.initial + limit.per_message * self._sent + limit.per_request * self._requests


def channel_limit_exceeded(what: str) -> Breach:
    """Return the breach for exceeding one of the channel's limits."""
    return Breach(Fault.CRASH, f"its stream was closed because it exceeded the channel's limits: {what}")


MAX_MESSAGE_BYTES: Final = 16 * 1024
PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
"""The client connection preface. Source: RFC 9113, section 3.4."""

MAX_FRAME_BYTES: Final = 16 * 1024
"""HTTP/2's default SETTINGS_MAX_FRAME_SIZE. Source: RFC 9113, section 4.2."""

MAX_HEADERS_BYTES: Final = 1024
"""A call's headers take about 300 bytes. gRPC expands a one-byte reference to an earlier header to the whole
header, so each byte of a frame can become about as many bytes as this."""

MAX_PAYLOAD_BYTES: Final = {
    DATA: MAX_FRAME_BYTES,
    HEADERS: MAX_HEADERS_BYTES,
    PRIORITY: 5,
    RST_STREAM: 4,
    SETTINGS: 256,  # room for 42 settings; HTTP/2 has about ten
    PING: 8,
    GOAWAY: 1024,
    WINDOW_UPDATE: 4,
}
"""Maximum payload in bytes, by allowed frame type."""

_END_STREAM: Final = 0x1
_PADDED: Final = 0x8
_NAMES: Final = {kind: limit.name.removesuffix("s") for kind, limit in FRAME_LIMITS.items()}
_NAMES[0x5] = "PUSH_PROMISE frame"
_NAMES[0x9] = "CONTINUATION frame"

_FRAME_HEADER: Final = struct.Struct(">HBBBL")
"""Length (24 bits), type, flags, stream identifier. Source: RFC 9113, section 4.1."""

_PREFIX: Final = struct.Struct(">BL")
"""The prefix of every gRPC message: compressed flag, length."""


class NotHttp2(Exception):
    """The connection doesn't begin with the HTTP/2 preface."""


class _Frames:
    """Splits bytes, which come in chunks of any size, into frames."""

    def __init__(self) -> None:
        self._head = b""
        self._payload = 0

    def _split(self, data: bytes, at: int = 0) -> None:
        """Split the next bytes, starting at ``at``."""
        end = len(data)
        while at < end:
            if self._payload:
                stop = min(end, at + self._payload)
                self._on_payload(data, at, stop)
                self._payload -= stop - at
                at = stop
            elif end - at >= _FRAME_HEADER.size and not self._head:
                self._parse_head(*_FRAME_HEADER.unpack_from(data, at))
                at += _FRAME_HEADER.size
            else:
                stop = at + _FRAME_HEADER.size - len(self._head)
                self._head += data[at:stop]
                at = stop
                if len(self._head) == _FRAME_HEADER.size:
                    self._parse_head(*_FRAME_HEADER.unpack(self._head))
                    self._head = b""

    def _parse_head(self, high: int, low: int, kind: int, flags: int, stream_id: int) -> None:
        self._payload = high << 8 | low
        self._on_frame(self._payload, kind, flags, stream_id & 0x7FFF_FFFF)

    def _on_frame(self, length: int, kind: int, flags: int, stream_id: int) -> None:
        """Handle the beginning of a frame."""
        raise NotImplementedError

    def _on_payload(self, data: bytes, at: int, stop: int) -> None:
        """Handle a chunk of a frame's payload."""


class FrameGuard(_Frames):
    """Checks the bytes from one connection."""

    def __init__(self, budget: SendBudget) -> None:
        super().__init__()
        self._budget = budget
        self._preface = PREFACE
        self._body: _GrpcStream | None = None
        self._streams: dict[int, _GrpcStream] = {}

    @property
    def has_preface(self) -> bool:
        """True if the whole preface has arrived."""
        return not self._preface

    @property
    def buffered(self) -> int:
        """Number of bytes buffered."""
        return len(self._head) + sum(body.buffered for body in self._streams.values())

    def feed(self, data: bytes) -> None:
        """Check the next bytes, in chunks of any size.

        Raises NotHttp2 if the preface is wrong, which doesn't count as a fault, or Breach if a limit is
        exceeded. Don't call this again after an exception.
        """
        self._split(data, self._skip_preface(data) if self._preface else 0)

    def _skip_preface(self, data: bytes) -> int:
        """Check the rest of the preface, and return how many bytes belong to it."""
        length = min(len(data), len(self._preface))
        if data[:length] != self._preface[:length]:
            raise NotHttp2
        self._preface = self._preface[length:]
        return length

    def _on_frame(self, length: int, kind: int, flags: int, stream_id: int) -> None:
        limit = MAX_PAYLOAD_BYTES.get(kind)
        if limit is None:
            name = _NAMES.get(kind, f"frame of type {kind}")
            raise channel_limit_exceeded(f"a {name} (not allowed)")
        if length > limit:
            raise channel_limit_exceeded(f"a {_NAMES[kind]} of {length:,} bytes (limit {limit:,})")
        self._budget.count_frame(kind if length or kind != DATA else EMPTY_DATA)
        self._body = None
        if kind == DATA:
            self._body = self._streams.get(stream_id)
            if self._body is None:
                raise channel_limit_exceeded("a DATA frame for a call that is not open")
            if flags & _PADDED:
                raise channel_limit_exceeded("a padded DATA frame (not allowed)")
        elif kind == HEADERS:
            self._streams.setdefault(stream_id, _GrpcStream(self._budget))
        if kind == RST_STREAM or (flags & _END_STREAM and kind in {DATA, HEADERS}):
            self._streams.pop(stream_id, None)

    def _on_payload(self, data: bytes, at: int, stop: int) -> None:
        if self._body is not None:
            self._body.feed(data, at, stop)


class DataFrames(_Frames):
    """Detects DATA frames with a payload in the bytes from the server."""

    def __init__(self) -> None:
        super().__init__()
        self._found = False

    def contains_start(self, data: bytes) -> bool:
        """Return True if a DATA frame with a payload begins in the next bytes."""
        self._found = False
        self._split(data)
        return self._found

    def _on_frame(self, length: int, kind: int, flags: int, stream_id: int) -> None:  # noqa: ARG002 - as in the base class
        self._found |= kind == DATA and length > 0


class _GrpcStream:
    """Checks the gRPC messages of one call."""

    def __init__(self, budget: SendBudget) -> None:
        self._budget = budget
        self._prefix = b""
        self._remaining = 0

    @property
    def buffered(self) -> int:
        """Number of bytes buffered."""
        return len(self._prefix)

    def feed(self, data: bytes, at: int, end: int) -> None:
        """Check the bytes from ``at`` to ``end``. Raises Breach if a message exceeds the limits."""
        while at < end:
            if self._remaining:
                step = min(self._remaining, end - at)
                self._remaining -= step
                at += step
            else:
                stop = min(end, at + _PREFIX.size - len(self._prefix))
                self._prefix += data[at:stop]
                at = stop
                if len(self._prefix) == _PREFIX.size:
                    self._on_message(*_PREFIX.unpack(self._prefix))
                    self._prefix = b""

    def _on_message(self, compressed: int, size: int) -> None:
        if compressed:
            raise channel_limit_exceeded("a compressed message (not allowed)")
        if size > MAX_MESSAGE_BYTES:
            raise channel_limit_exceeded(f"a message of {size:,} bytes (limit {MAX_MESSAGE_BYTES:,})")
        self._budget.count_message(size)
        self._remaining = size
