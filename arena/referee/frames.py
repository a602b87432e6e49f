"""The guard of one connection: looks at every byte that a bot sends before the library does.

No input or output, and of the bytes it keeps no more than a frame's header and
a message's prefix that have not arrived whole. It knows of HTTP/2 (RFC 9113)
where frames and calls begin and end, and of gRPC where messages do; what is in
headers and messages is for others to read. What is sent to a bot it does not see.
"""

import struct
from typing import Final

from arena.referee.allowance import (
    DATA,
    EMPTY_DATA,
    FRAMES,
    GOAWAY,
    HEADERS,
    PING,
    PRIORITY,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    Allowance,
    beyond_channel,
)

MAX_MESSAGE_BYTES: Final = 16 * 1024
PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
"""What a client sends first. Source: RFC 9113, section 3.4."""

MAX_FRAME_BYTES: Final = 16 * 1024
"""What a server has to accept, and clients may send unless told otherwise. Source: RFC 9113, section 4.2."""

MAX_HEADERS_BYTES: Final = 4 * 1024
"""The headers of a call have about 300 bytes."""

_LONGEST: Final = {
    DATA: MAX_FRAME_BYTES,
    HEADERS: MAX_HEADERS_BYTES,
    PRIORITY: 5,
    RST_STREAM: 4,
    SETTINGS: 256,  # 42 settings; there are about ten
    PING: 8,
    GOAWAY: 1024,
    WINDOW_UPDATE: 4,
}
"""Of each type that may come, the longest payload in bytes."""

_END_STREAM: Final = 0x1
_PADDED: Final = 0x8
_NAMES: Final = {kind: limit.name.removesuffix("s") for kind, limit in FRAMES.items()}
_NAMES[0x5] = "PUSH_PROMISE frame"
_NAMES[0x9] = "CONTINUATION frame"

_HEAD: Final = struct.Struct(">HBBBL")
"""Length (24 bits), type, flags, call. Source: RFC 9113, section 4.1."""

_PREFIX: Final = struct.Struct(">BL")
"""Whether it is compressed, and its length, before every message of gRPC."""


class NotHttp2(Exception):
    """The connection does not begin as one of HTTP/2 does."""


class FrameGuard:
    """Watches over what comes in on one connection.

    Args:
        allowance: Of the seat; counts over all its connections.
    """

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._preface = PREFACE
        self._head = b""
        self._payload = 0
        self._body: _Body | None = None
        self._calls: dict[int, _Body] = {}

    @property
    def begun(self) -> bool:
        """Whether the whole preface has come."""
        return not self._preface

    @property
    def held(self) -> int:
        """How many bytes it keeps."""
        return len(self._head) + sum(body.held for body in self._calls.values())

    def feed(self, data: bytes) -> None:
        """Look at the next bytes, however they are cut.

        Raises:
            NotHttp2: They are something else. No verdict.
            Breach: They go beyond the limits. Feed no more after this.
        """
        at, end = self._begin(data) if self._preface else 0, len(data)
        while at < end:
            if self._payload:
                stop = min(end, at + self._payload)
                if self._body is not None:
                    self._body.feed(data, at, stop)
                self._payload -= stop - at
                at = stop
            elif end - at >= _HEAD.size and not self._head:
                self._frame(*_HEAD.unpack_from(data, at))
                at += _HEAD.size
            else:
                stop = at + _HEAD.size - len(self._head)
                self._head += data[at:stop]
                at = stop
                if len(self._head) == _HEAD.size:
                    self._frame(*_HEAD.unpack(self._head))
                    self._head = b""

    def _begin(self, data: bytes) -> int:
        """Compare with what is left of the preface, and return how many bytes belong to it."""
        length = min(len(data), len(self._preface))
        if data[:length] != self._preface[:length]:
            raise NotHttp2
        self._preface = self._preface[length:]
        return length

    def _frame(self, high: int, low: int, kind: int, flags: int, call: int) -> None:
        self._payload = length = high << 8 | low
        longest = _LONGEST.get(kind)
        if longest is None:
            name = _NAMES.get(kind, f"frame of type {kind}")
            raise beyond_channel(f"a {name} (none is allowed)")
        if length > longest:
            raise beyond_channel(f"a {_NAMES[kind]} of {length:,} bytes ({longest:,} are allowed)")
        self._allowance.frame(kind if length or kind != DATA else EMPTY_DATA)
        self._body = None
        call &= 0x7FFF_FFFF
        if kind == DATA:
            self._body = self._calls.get(call)
            if self._body is None:
                raise beyond_channel("a DATA frame for a call that is not open")
            if flags & _PADDED:
                raise beyond_channel("a padded DATA frame (none is allowed)")
        elif kind == HEADERS:
            self._calls.setdefault(call, _Body(self._allowance))
        if kind == RST_STREAM or (flags & _END_STREAM and kind in {DATA, HEADERS}):
            self._calls.pop(call, None)


class _Body:
    """The messages of one call."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._prefix = b""
        self._rest = 0

    @property
    def held(self) -> int:
        """How many bytes it keeps."""
        return len(self._prefix)

    def feed(self, data: bytes, at: int, end: int) -> None:
        """Look at the bytes from ``at`` to ``end``.

        Raises:
            Breach: A message goes beyond the limits.
        """
        while at < end:
            if self._rest:
                step = min(self._rest, end - at)
                self._rest -= step
                at += step
            else:
                stop = min(end, at + _PREFIX.size - len(self._prefix))
                self._prefix += data[at:stop]
                at = stop
                if len(self._prefix) == _PREFIX.size:
                    self._message(*_PREFIX.unpack(self._prefix))
                    self._prefix = b""

    def _message(self, compressed: int, size: int) -> None:
        if compressed:
            raise beyond_channel("a compressed message (none is allowed)")
        if size > MAX_MESSAGE_BYTES:
            raise beyond_channel(f"a message of {size:,} bytes ({MAX_MESSAGE_BYTES:,} are allowed)")
        self._allowance.message(size)
        self._rest = size
