"""Bots that send endlessly. Run in a bot's container."""

import itertools
import struct
from collections.abc import Iterable
from typing import Final

from tests.sandbox.hostile.bot import tell
from tests.sandbox.hostile.channel.play import Bot, Call, Ended, greeted, tell_whether_it_ends
from tests.sandbox.hostile.channel.raw import (
    CALL,
    CONTINUATION,
    DATA,
    END_HEADERS,
    ENOUGH_BYTES,
    ENOUGH_FRAMES,
    GOAWAY,
    HEADERS,
    PING,
    PRIORITY,
    RST_STREAM,
    SETTINGS,
    UNKNOWN,
    WINDOW_UPDATE,
    Closed,
    Line,
    frame,
    literal,
)

_CHUNK: Final = 200
_CANCEL: Final = struct.pack(">I", 8)


def endless_messages() -> None:
    """Send empty messages, which are well formed."""
    bot = greeted()
    bot.play_to()
    count = 0
    try:
        while count < ENOUGH_FRAMES:
            bot.call.data(bytes(5 * _CHUNK))
            count += _CHUNK
        bot.call.line.wait_for_pong()
        tell(messages=count, ended=False)
    except (Closed, Ended):
        tell_whether_it_ends(bot, messages=count)


def rapid_resets() -> None:
    """Open streams and reset each immediately."""
    bot = _mid_game()
    _flood(
        bot,
        (
            frame(HEADERS, CALL, flags=END_HEADERS, stream=stream) + frame(RST_STREAM, _CANCEL, stream=stream)
            for stream in itertools.count(3, 2)
        ),
    )


def streams() -> None:
    """Open streams and leave them open."""
    bot = _mid_game()
    _flood(bot, (frame(HEADERS, CALL, flags=END_HEADERS, stream=stream) for stream in itertools.count(3, 2)))


def continuations() -> None:
    """Begin a header block that never ends. Within it no other frame is allowed, not even a ping."""
    bot = _mid_game()
    part = frame(CONTINUATION, literal("x", "y" * 8_000), stream=3)
    sent = 0
    try:
        bot.call.raw(frame(HEADERS, CALL, stream=3))
        while sent < ENOUGH_BYTES:
            bot.call.raw(part)
            sent += len(part)
    except Ended:
        tell_whether_it_ends(bot, sent=sent)
    else:
        tell(sent=sent, ended=False)


def settings() -> None:
    """Send SETTINGS frames, each of which requires an acknowledgement."""
    _flood(_mid_game(), itertools.repeat(frame(SETTINGS)))


def pings() -> None:
    """Send pings, each of which requires an acknowledgement."""
    _flood(_mid_game(), itertools.repeat(frame(PING, bytes(8))))


def pings_before_the_hello() -> None:
    """Call Play, then send pings instead of a Hello."""
    line = Line()
    line.greet()
    _flood(Bot(Call(line)), itertools.repeat(frame(PING, bytes(8))))


def windows() -> None:
    """Enlarge the referee's flow-control window, byte by byte."""
    _flood(_mid_game(), itertools.repeat(frame(WINDOW_UPDATE, struct.pack(">I", 1), stream=1)))


def empty_data() -> None:
    """Send DATA frames without a payload."""
    _flood(_mid_game(), itertools.repeat(frame(DATA, stream=1)))


def priorities() -> None:
    """Change the priority of streams that don't exist."""
    _flood(
        _mid_game(),
        (frame(PRIORITY, struct.pack(">IB", 0, 1), stream=stream) for stream in itertools.count(3, 2)),
    )


def unknown_frames() -> None:
    """Send frames of a type that doesn't exist."""
    _flood(_mid_game(), itertools.repeat(frame(UNKNOWN, bytes(100))))


def goaways() -> None:
    """Announce again and again that the connection is about to end."""
    _flood(_mid_game(), itertools.repeat(frame(GOAWAY, struct.pack(">II", 0, 0))))


def _mid_game() -> Bot:
    bot = greeted()
    bot.play_to()
    return bot


def _flood(bot: Bot, frames: Iterable[bytes]) -> None:
    """Send frames until the referee ends the stream, or has accepted enough of them."""
    count = 0
    rest = iter(frames)
    before = bot.call.line.sent
    try:
        while count < ENOUGH_FRAMES and bot.call.line.sent - before < ENOUGH_BYTES:
            bot.call.raw(b"".join(itertools.islice(rest, _CHUNK)))
            count += _CHUNK
        bot.call.line.wait_for_pong()
        tell(frames=count, ended=False)
    except (Closed, Ended):
        tell_whether_it_ends(bot, frames=count)
