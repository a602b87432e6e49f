"""Bots that send too much at once, or what becomes too much. Run in a bot's container."""

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

MESSAGE_BYTES: Final = 16_384
BOMB_BYTES: Final = 16 * 1024 * 1024
NOTE_BYTES: Final = 256
_PADDING: Final = 15 << 3 | 2  # field 15, which there is not: bytes


def declares_4_gib() -> None:
    """Begin a message that says it is as long as a message can be, and send 100 MB of it."""
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
    """Answer with a message of exactly the length that is allowed."""
    bot = greeted()
    move = bot.play_to()
    message = padded(pb.BotMessage(moves=[move]), MESSAGE_BYTES)
    bot.call.send(message)
    move = bot.asked()
    tell(sent=len(message), asked_on=True)
    bot.play_on(move)


def message_too_long_by_a_byte() -> None:
    """Answer with a message of one byte more than is allowed."""
    bot = greeted()
    message = padded(pb.BotMessage(moves=[bot.play_to()]), MESSAGE_BYTES + 1)
    send_to_the_end(lambda: bot.call.send(message))
    tell_whether_it_ends(bot, sent=len(message))


def longest_note() -> None:
    """Answer with a note of exactly the length that is allowed."""
    bot = greeted()
    move = bot.play_to()
    move.note = "x" * NOTE_BYTES
    bot.answer(move)
    move = bot.asked()
    tell(note=NOTE_BYTES, asked_on=True)
    bot.play_on(move)


def note_too_long_by_a_byte() -> None:
    """Answer with a note of one byte more than is allowed, in 65 characters."""
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
    """Send a message of moves that answer nothing, as many as fit into it."""
    bot = greeted()
    bot.play_to()
    moves = [pb.Move()] * (MESSAGE_BYTES // 2)
    bot.answer(*moves)
    with contextlib.suppress(Ended):
        bot.asked()
    # A notice is the answer of a referee that went through all of them.
    tell(moves=len(moves), heard=bool(bot.notices))


def huge_metadata() -> None:
    """Call with one header of 64 KB."""
    call_with(literal("x", "y" * 64_000))


def much_metadata() -> None:
    """Call with 2,000 short headers."""
    call_with(b"".join(literal(f"x{number}", "y" * 20) for number in range(2_000)))


def metadata_in_bounds() -> None:
    """Call with 2 KB of headers, and play honestly."""
    line = Line()
    line.greet()
    bot = Bot(Call(line, literal("x", "y" * 2_000)))
    bot.say(HELLO)
    move = bot.play_to()
    tell(metadata=2_000, asked=True)
    bot.play_on(move)


def header_bombs() -> None:
    """Call sixty times more, each time with a header of 2,000 bytes and 1,900 references to it."""
    bot = greeted()
    move = bot.play_to()
    block = CALL + literal("x", "y" * 2_000, remember=True) + b"\xbe" * 1_900
    for number in range(60):
        bot.call.raw(headers(block, stream=2 * number + 3))
    bot.call.line.wait_for_pong()
    tell(headers=60 * len(block), mean=60 * 1_900 * 2_000)
    bot.play_on(move)


def gzip_bomb() -> None:
    """Call with messages in gzip, and send one that is small only as long as it is packed."""
    bomb("gzip", lambda data: gzip.compress(data, mtime=0))


def deflate_bomb() -> None:
    """Call with messages in deflate, and send one that is small only as long as it is packed."""
    bomb("deflate", zlib.compress)


def padded(message: pb.BotMessage, size: int) -> bytes:
    """Return a message's bytes and as much of an unknown field as makes them this long."""
    known = message.SerializeToString()
    # The field's number is one byte. Its length takes one to four, and how many depends on itself.
    for digits in range(1, 5):
        rest = size - len(known) - 1 - digits
        if rest >> 7 * digits == 0 <= rest:
            said = bytes(rest >> 7 * at & 127 | (128 if at < digits - 1 else 0) for at in range(digits))
            return known + bytes([_PADDING]) + said + bytes(rest)
    raise ValueError(size)


def call_with(extra: bytes) -> None:
    """Call with more headers than are needed, and say Hello."""
    line = Line()
    line.greet()
    bot = Bot(Call(line, extra))
    send_to_the_end(lambda: bot.say(HELLO))
    tell_whether_it_ends(bot, headers=len(extra))


def bomb(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    """Say Hello in a message that is short as it comes and 16 MiB when it is unpacked."""
    packed = pack(padded(HELLO, BOMB_BYTES))
    line = Line()
    line.greet()
    bot = Bot(Call(line, literal("grpc-encoding", encoding)))
    send_to_the_end(lambda: bot.call.send(packed, compressed=1))
    tell_whether_it_ends(bot, sent=len(packed), means=BOMB_BYTES)


def send_to_the_end(send: Callable[[], None]) -> None:
    """Send, whether or not someone listens to the end of it."""
    with contextlib.suppress(Ended):
        send()
