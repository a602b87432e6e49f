"""Bots that send too much at once, or little that unpacks to too much. Run in a bot's container."""

import contextlib
import gzip
import struct
import zlib
from collections.abc import Callable
from typing import Final

from arena.wire.v1 import referee_pb2 as pb
from tests.sandbox.hostile.bot import tell
from tests.sandbox.hostile.channel.play import (
    HELLO,
    Bot,
    Call,
    Ended,
    greeted,
    tell_of_the_notice,
    tell_whether_it_ends,
)
from tests.sandbox.hostile.channel.raw import CALL, ENOUGH_BYTES, FRAME_BYTES, Closed, Line, headers, literal

MESSAGE_BYTES_LIMIT: Final = 16_384
BOMB_BYTES: Final = 16 * 1024 * 1024
NOTE_BYTES: Final = 256
_PADDING: Final = 15 << 3 | 2  # field 15, which doesn't exist; type bytes


def declares_4_gib() -> None:
    """Begin a message that declares the greatest possible length, and send 100 MB of it."""
    bot = greeted()
    bot.play_to()
    sent = 0
    try:
        bot.call.data(struct.pack(">BI", 0, 0xFFFF_FFFF))
        while sent < ENOUGH_BYTES:
            bot.call.data(bytes(FRAME_BYTES))
            sent += FRAME_BYTES
        bot.call.line.wait_for_pong()
    except (Closed, Ended):
        tell_whether_it_ends(bot, sent=sent)
    else:
        tell(sent=sent, ended=False)


def longest_message() -> None:
    """Answer with a message of exactly the allowed length."""
    bot = greeted()
    move = bot.play_to()
    message = padded(pb.BotMessage(moves=[move]), MESSAGE_BYTES_LIMIT)
    bot.call.send(message)
    move = bot.asked()
    tell(sent=len(message), asked_on=True)
    bot.play_on(move)


def message_too_long_by_a_byte() -> None:
    """Answer with a message that is one byte too long."""
    bot = greeted()
    message = padded(pb.BotMessage(moves=[bot.play_to()]), MESSAGE_BYTES_LIMIT + 1)
    send_to_the_end(lambda: bot.call.send(message))
    tell_whether_it_ends(bot, sent=len(message))


def longest_note() -> None:
    """Answer with a note of exactly the allowed length."""
    bot = greeted()
    move = bot.play_to()
    move.note = "x" * NOTE_BYTES
    bot.answer(move)
    move = bot.asked()
    tell(note=NOTE_BYTES, asked_on=True)
    bot.play_on(move)


def note_too_long_by_a_byte() -> None:
    """Answer with a note that is one byte too long, although it has only 65 characters."""
    bot = greeted()
    move = bot.play_to()
    move.note = "\N{SUSHI}" * (NOTE_BYTES // 4) + "x"
    bot.answer(move)
    tell_of_the_notice(bot, note=len(move.note.encode()))


def note_of_100_kb() -> None:
    """Answer with a note that makes the message too long."""
    bot = greeted()
    move = bot.play_to()
    move.note = "x" * 100_000
    send_to_the_end(lambda: bot.answer(move))
    tell_whether_it_ends(bot, note=len(move.note))


def thousands_of_moves() -> None:
    """Send a message with as many empty moves as fit into it."""
    bot = greeted()
    bot.play_to()
    moves = [pb.Move()] * (MESSAGE_BYTES_LIMIT // 2)
    bot.answer(*moves)
    with contextlib.suppress(Ended):
        bot.asked()
    # A referee that reads all of them sends a notice.
    tell(moves=len(moves), heard=bool(bot.notices))


def huge_metadata() -> None:
    """Call with one header of 64 KB."""
    call_with(literal("x", "y" * 64_000))


def much_metadata() -> None:
    """Call with 2,000 short headers."""
    call_with(b"".join(literal(f"x{number}", "y" * 20) for number in range(2_000)))


def metadata_in_bounds() -> None:
    """Call with 500 bytes of headers beyond those that a call needs, and play honestly."""
    line = Line()
    line.greet()
    bot = Bot(Call(line, literal("x", "y" * 500)))
    bot.say(HELLO)
    move = bot.play_to()
    tell(metadata=500, asked=True)
    bot.play_on(move)


def header_bombs() -> None:
    """Make sixty more calls, each with a header of 400 bytes and 400 references to it."""
    bot = greeted()
    move = bot.play_to()
    block = CALL + literal("x", "y" * 400, remember=True) + b"\xbe" * 400
    for number in range(60):
        bot.call.raw(headers(block, stream=2 * number + 3))
    bot.call.line.wait_for_pong()
    tell(headers=60 * len(block), mean=60 * 400 * 400)
    bot.play_on(move)


def gzip_bomb() -> None:
    """Declare gzip compression, and send a small message that unpacks to a large one."""
    bomb("gzip", lambda data: gzip.compress(data, mtime=0))


def deflate_bomb() -> None:
    """Declare deflate compression, and send a small message that unpacks to a large one."""
    bomb("deflate", zlib.compress)


def padded(message: pb.BotMessage, size: int) -> bytes:
    """Return a message's bytes, padded to this size with an unknown field."""
    known = message.SerializeToString()
    # The field's tag takes one byte. Its length takes one to four, depending on its value.
    for digits in range(1, 5):
        rest = size - len(known) - 1 - digits
        if rest >> 7 * digits == 0 <= rest:
            said = bytes(rest >> 7 * at & 127 | (128 if at < digits - 1 else 0) for at in range(digits))
            return known + bytes([_PADDING]) + said + bytes(rest)
    raise ValueError(size)


def call_with(extra: bytes) -> None:
    """Call with additional headers, and send a Hello."""
    line = Line()
    line.greet()
    bot = Bot(Call(line, extra))
    send_to_the_end(lambda: bot.say(HELLO))
    tell_whether_it_ends(bot, headers=len(extra))


def bomb(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    """Send a Hello in a compressed message that unpacks to 16 MiB."""
    packed = pack(padded(HELLO, BOMB_BYTES))
    line = Line()
    line.greet()
    bot = Bot(Call(line, literal("grpc-encoding", encoding)))
    send_to_the_end(lambda: bot.call.send(packed, compressed=1))
    tell_whether_it_ends(bot, sent=len(packed), means=BOMB_BYTES)


def send_to_the_end(send: Callable[[], None]) -> None:
    """Send, even if the referee ends the stream before everything is sent."""
    with contextlib.suppress(Ended):
        send()
