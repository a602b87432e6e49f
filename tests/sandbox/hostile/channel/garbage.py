"""Bots that speak something else than the protocol, or end it before its time. Run in a bot's container."""

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
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(512),  # a TLS greeting
    bytes(range(256)) * 100,
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\0",  # all but the last byte is right
)
_CANCEL: Final = struct.pack(">I", 8)


def other_tongues() -> None:
    """Speak other protocols, one connection each, and never the right one."""
    heard = 0
    for tongue in _TONGUES:
        with dial() as line:
            try:
                line.sendall(tongue)
                while data := line.recv(65_536):
                    heard += len(data)
            except OSError:  # it was closed before all was read
                pass
    tell(lines=len(_TONGUES), heard=heard)
    signal.pause()


def garbage_for_a_hello() -> None:
    """Begin right, and go on with bytes without a meaning."""
    line = Line()
    line.greet()
    bot = Bot(Call(line))
    bot.call.raw(b"\xff" * 100)
    tell_whether_it_ends(bot)


def garbage_frames() -> None:
    """Play honestly, then send bytes without a meaning where a frame should begin."""
    bot = greeted()
    bot.play_to()
    bot.call.raw(b"\xff" * 100)
    tell_whether_it_ends(bot)


def garbage_messages() -> None:
    """Play honestly, then send a message that is no protobuf."""
    bot = greeted()
    bot.play_to()
    bot.call.send(b"\xff" * 100)
    tell_whether_it_ends(bot)


def garbage_headers() -> None:
    """Play honestly, then call once more with headers that refer to nothing."""
    bot = greeted()
    bot.play_to()
    bot.call.raw(frame(HEADERS, b"\x80" * 100, flags=END_HEADERS, stream=3))
    tell_whether_it_ends(bot)


def data_without_a_call() -> None:
    """Play honestly, then send data for no stream at all."""
    bot = greeted()
    bot.play_to()
    bot.call.raw(frame(DATA, bytes(5)))
    tell_whether_it_ends(bot)


def ends_the_stream() -> None:
    """Play honestly, then say that nothing more will be said."""
    bot = greeted()
    bot.play_to()
    bot.call.raw(frame(DATA, flags=END_STREAM, stream=1))
    tell_whether_it_ends(bot)


def ends_the_stream_with_the_hello() -> None:
    """Say Hello and that nothing more will be said."""
    hello = HELLO.SerializeToString()
    line = Line()
    line.greet()
    bot = Bot(Call(line))
    bot.call.raw(frame(DATA, struct.pack(">BI", 0, len(hello)) + hello, flags=END_STREAM, stream=1))
    tell_whether_it_ends(bot, crossing=1)  # the first turn may be asked between the Hello and the end


def cancels_and_comes_back() -> None:
    """Play honestly, then cancel the call, close the line and begin anew."""
    bot = greeted()
    bot.play_to()
    bot.call.raw(frame(RST_STREAM, _CANCEL, stream=1))
    bot.call.line.socket.shutdown(socket.SHUT_RDWR)
    tell_whether_it_ends(bot)


def closes_half_the_line() -> None:
    """Play honestly, then close the way to the referee and listen on."""
    bot = greeted()
    bot.play_to()
    bot.call.line.socket.shutdown(socket.SHUT_WR)
    tell_whether_it_ends(bot)
