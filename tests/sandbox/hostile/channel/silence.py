"""Bots that say nothing, or nearly nothing. Run in a bot's container."""

import contextlib
import signal
import time

from arena.wire.v1 import referee_pb2 as pb
from tests.sandbox.hostile.bot import tell
from tests.sandbox.hostile.channel.play import HELLO, Bot, Call, Ended, greeted
from tests.sandbox.hostile.channel.raw import CALL, DATA, PREFACE, SETTINGS, Closed, Line, frame, headers


def never_connects() -> None:
    """Run, but don't connect."""
    tell(there=True)
    signal.pause()


def connects_and_is_silent() -> None:
    """Open three connections: a silent one, one that only starts HTTP/2, and one without a Hello."""
    mute, line, caller = Line(), Line(), Line()
    begun = time.monotonic()
    line.greet()
    line.wait_for_pong()
    caller.greet()
    Call(caller)
    caller.wait_for_pong()
    for silent in (mute, line, caller):
        silent.wait_for_end()
    tell(lines=3, seconds=time.monotonic() - begun)


def falls_silent() -> None:
    """Play honestly, then stop answering."""
    bot = greeted()
    bot.play_to()
    begun = time.monotonic()
    bot.asked()
    tell(seconds=time.monotonic() - begun)
    bot.call.wait_for_end()


def one_byte_a_second() -> None:
    """Send a correct start, but so slowly that the Hello never arrives."""
    hello = HELLO.SerializeToString()
    everything = (
        PREFACE
        + frame(SETTINGS)
        + headers(CALL, stream=1)
        + frame(DATA, bytes([0, 0, 0, 0, len(hello)]) + hello, stream=1)
    )
    line = Line()
    for count, byte in enumerate(everything, start=1):
        try:
            line.send(bytes([byte]))
        except Closed:
            return
        tell(sent=count, of=len(everything))
        time.sleep(1)


def slow_answer() -> None:
    """Play honestly, then send an answer so slowly that it arrives too late."""
    bot = greeted()
    answer = pb.BotMessage(moves=[bot.play_to()]).SerializeToString()
    with contextlib.suppress(Ended):
        for count, byte in enumerate(bytes([0, 0, 0, 0, len(answer)]) + answer, start=1):
            bot.call.data(bytes([byte]))
            tell(sent=count, of=len(answer) + 5)
            time.sleep(0.5)
        bot.play_on()


def gives_the_referee_no_room() -> None:
    """Send a Hello, but give the referee a window of 0 bytes on the stream."""
    line = Line()
    line.greet(settings=b"\x00\x04\x00\x00\x00\x00")  # an initial window of 0 bytes
    bot = Bot(Call(line))
    bot.say(HELLO)
    line.wait_for_pong()
    tell(answered=True)
    line.wait_for_end()


def never_reads() -> None:
    """Play honestly, then answer and read nothing more."""
    bot = greeted()
    move = bot.play_to()
    bot.answer(move)
    tell(answered=True)
    signal.pause()
