"""What one bot may send: so much to begin with, and so much for everything that it is told or asked.

No input or output. The counts are those of a seat, over all its connections
and calls. There are two kinds of limits:

* Frames of HTTP/2, whose flood the library would pay for. Beyond one of these
  it is the channel's limits that end a stream: ``Fault.CRASH``.
* Messages of the protocol. Beyond one of these a bot does not converse any
  more: ``Fault.EXPELLED``.

Where the numbers come from: what clients of gRPC send at most, by what the
libraries for C++, Go, Java, JavaScript and .NET do, times two or more.

* A call is opened once, so HEADERS, RST_STREAM, GOAWAY and the empty DATA that
  ends a call do not depend on how long a match is. A client that dials again
  and again is cut off after ``MAX_CONNECTIONS_IN_ALL`` connections, with a call
  and a farewell each.
* A client greets every connection with SETTINGS and acknowledges the server's:
  two a connection. It may answer every message that it reads with WINDOW_UPDATE
  for the call and for the connection, once a DATA frame, with a PING that
  measures the line, and with new SETTINGS for what it measured.
* A bot answers each request once, in a message of its own at worst. Such a
  message has a prefix and a body, which may travel in frames of their own. A move
  with the longest note has less than 300 bytes.
"""

from typing import Final, NamedTuple

from arena.match import Fault

MAX_CONNECTIONS: Final = 4
"""At a time. More are closed at once."""

MAX_CONNECTIONS_IN_ALL: Final = 64
"""Of one seat. After these its socket listens no more."""


class Breach(Exception):
    """A bot went beyond what it may send.

    Attributes:
        fault: What it is to its seat.
        why: In words.
    """

    def __init__(self, fault: Fault, why: str) -> None:
        super().__init__(why)
        self.fault = fault
        self.why = why


class Limit(NamedTuple):
    """How much of something.

    Attributes:
        name: Of many of it.
        first: So many to begin with.
        each_message: So many more for every message that the referee sends to this bot.
        each_request: So many more for every decision that it asks of this bot.
    """

    name: str
    first: int
    each_message: int = 0
    each_request: int = 0


DATA: Final = 0x0
HEADERS: Final = 0x1
PRIORITY: Final = 0x2
RST_STREAM: Final = 0x3
SETTINGS: Final = 0x4
PING: Final = 0x6
GOAWAY: Final = 0x7
WINDOW_UPDATE: Final = 0x8
EMPTY_DATA: Final = 0x100
"""No type on the wire: DATA without a payload, which costs its sender nothing."""

FRAMES: Final = {
    DATA: Limit("DATA frames", 256, 8, 8),
    HEADERS: Limit("HEADERS frames", MAX_CONNECTIONS_IN_ALL),
    PRIORITY: Limit("PRIORITY frames", MAX_CONNECTIONS_IN_ALL),
    RST_STREAM: Limit("RST_STREAM frames", 32),
    SETTINGS: Limit("SETTINGS frames", 256, 8),
    PING: Limit("PING frames", 256, 8),
    GOAWAY: Limit("GOAWAY frames", MAX_CONNECTIONS_IN_ALL),
    WINDOW_UPDATE: Limit("WINDOW_UPDATE frames", 256, 16),
    EMPTY_DATA: Limit("empty DATA frames", MAX_CONNECTIONS_IN_ALL),
}
"""By type."""

MESSAGES: Final = Limit("messages", 16, each_request=2)
MOVES: Final = Limit("moves", 16, each_request=2)
MESSAGE_BYTES: Final = Limit("bytes of messages", 48 * 1024, each_request=1024)
"""What a bot has to begin with fits into the 64 KiB that HTTP/2 lets it send unread."""

_LIMITS: Final = (*FRAMES.values(), MESSAGES, MOVES, MESSAGE_BYTES)


class Allowance:
    """What is left to one seat's bot."""

    def __init__(self) -> None:
        self._sent = 0
        self._requests = 0
        self._used = dict.fromkeys((limit.name for limit in _LIMITS), 0)

    def grant(self, requests: int) -> None:
        """Allow more: the referee sends a message with so many requests."""
        self._sent += 1
        self._requests += requests

    def frame(self, kind: int) -> None:
        """Count a frame of a type in :data:`FRAMES`.

        Raises:
            Breach: It is one too many.
        """
        limit = FRAMES[kind]
        if self._goes_beyond(limit, 1):
            counts = f"{self._used[limit.name]:,} {limit.name} ({self._allowed(limit):,} are allowed)"
            raise beyond_channel(counts)

    def message(self, size: int) -> None:
        """Count a message of so many bytes, when it begins.

        Raises:
            Breach: It is one too many, or there are too many bytes in all.
        """
        self._speak(MESSAGES, 1)
        self._speak(MESSAGE_BYTES, size)

    def moves(self, count: int) -> None:
        """Count the moves of a message.

        Raises:
            Breach: They are too many.
        """
        self._speak(MOVES, count)

    def used(self) -> dict[Limit, tuple[int, int]]:
        """Return how much has been used of everything, and how much is allowed."""
        return {limit: (self._used[limit.name], self._allowed(limit)) for limit in _LIMITS}

    def _speak(self, limit: Limit, count: int) -> None:
        if self._goes_beyond(limit, count):
            asked = "1 request" if self._requests == 1 else f"{self._requests:,} requests"
            why = f"more than {self._allowed(limit):,} {limit.name} for {asked}"
            raise Breach(Fault.EXPELLED, why)

    def _goes_beyond(self, limit: Limit, count: int) -> bool:
        used = self._used[limit.name] = self._used[limit.name] + count
        return used > limit.first and used > self._allowed(limit)

    def _allowed(self, limit: Limit) -> int:
        return limit.first + limit.each_message * self._sent + limit.each_request * self._requests


def beyond_channel(what: str) -> Breach:
    """Return the breach of a limit of the channel."""
    return Breach(Fault.CRASH, f"the channel's limits ended its stream: {what}")
