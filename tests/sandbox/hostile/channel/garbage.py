"""Bots that don't speak the protocol, or end their stream early. Run in a bot's container."""

import signal
import socket
import struct
from typing import Final

from tests.sandbox.hostile.bot import tell
from tests.sandbox.hostile.channel.play import HELLO, Bot, Call, greeted, tell_whether_it_ends
from tests.sandbox.hostile.channel.raw import (
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    RST_STREAM,
    Line,
    dial,
    frame,
)

_TONGUES: Final = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: h2c\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(512),  # the start of a TLS handshake
    bytes(range(256)) * 100,
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\0",  # right except for the last byte
)
_CANCEL: Final = struct.pack(">I", 8)


def other_tongues() -> None:
    """Speak other protocols, each on its own connection, and never the right one."""
    heard = 0
    for number, tongue in enumerate(_TONGUES, start=1):
        with dial() as line:
            try:
                line.sendall(tongue)
                while data := line.recv(65_536):
                    heard += len(data)
            except OSError:  # closed before everything was read
                pass
        tell(lines=number, heard=heard)
    signal.pause()


def garbage_for_a_hello() -> None:
    """Call Play, then send meaningless bytes instead of a Hello."""
    line = Line()
    line.greet()
    bot = Bot(Call(line))
    bot.call.raw(b"\xff" * 100)
    tell_whether_it_ends(bot)


def garbage_frames() -> None:
    """Play honestly, then send meaningless bytes where a frame should begin."""
    bot = greeted()
    bot.play_to()
    bot.call.raw(b"\xff" * 100)
    tell_whether_it_ends(bot)


def garbage_messages() -> None:
    """Play honestly, then send a message that is not protobuf."""
    bot = greeted()
    bot.play_to()
    bot.call.send(b"\xff" * 100)
    tell_whether_it_ends(bot)


def garbage_headers() -> None:
    """Play honestly, then call again with headers that refer to the table's invalid entry 0."""
    bot = greeted()
    bot.play_to()
    bot.call.raw(frame(HEADERS, b"\x80" * 100, flags=END_HEADERS, stream=3))
    tell_whether_it_ends(bot)


def data_without_a_call() -> None:
    """Play honestly, then send data without a stream."""
    bot = greeted()
    bot.play_to()
    bot.call.raw(frame(DATA, bytes(5)))
    tell_whether_it_ends(bot)


def ends_the_stream() -> None:
    """Play honestly, then end the stream."""
    bot = greeted()
    bot.play_to()
    bot.call.raw(frame(DATA, flags=END_STREAM, stream=1))
    tell_whether_it_ends(bot)


def ends_the_stream_with_the_hello() -> None:
    """Send a Hello that also ends the stream."""
    hello = HELLO.SerializeToString()
    line = Line()
    line.greet()
    bot = Bot(Call(line))
    bot.call.raw(frame(DATA, struct.pack(">BI", 0, len(hello)) + hello, flags=END_STREAM, stream=1))
    tell_whether_it_ends(bot, crossing=1)  # the first request may be sent before the end is read


def cancels_and_comes_back() -> None:
    """Play honestly, then cancel the call, close the connection and start again."""
    bot = greeted()
    bot.play_to()
    bot.call.raw(frame(RST_STREAM, _CANCEL, stream=1))
    bot.call.line.socket.shutdown(socket.SHUT_RDWR)
    tell_whether_it_ends(bot)


def closes_half_the_line() -> None:
    """Play honestly, then close the sending side of the connection and keep reading."""
    bot = greeted()
    bot.play_to()
    bot.call.line.socket.shutdown(socket.SHUT_WR)
    tell_whether_it_ends(bot)
