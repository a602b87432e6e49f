"""Bots that play honestly, but also make other connections or streams. Run in a bot's container."""

import array
import contextlib
import itertools
import os
import select
import signal
import socket
from typing import Final

from tests.sandbox.hostile.bot import tell
from tests.sandbox.hostile.channel.play import HELLO, Call, Ended, greeted, tell_whether_it_ends
from tests.sandbox.hostile.channel.raw import DATA, END_STREAM, PING, PREFACE, SETTINGS, Closed, dial, frame

_WANTED: Final = 1_000
_A_PROCESS: Final = 200
"""Connections per process: fewer than its limit on open files."""

_FILES: Final = 100

_COPIES: Final = 120
_EPOLLS: Final = 110
"""Together, the copies of the connection and the epolls are fewer than a process's limit on open files."""

_PINGS: Final = 200
"""Fewer than the send budget allows."""


def a_thousand_connections() -> None:
    """Open as many connections as possible from several processes, and keep them open."""
    bot = greeted()
    move = bot.play_to()
    answered = 0
    for _ in range(_WANTED // _A_PROCESS):
        reader, writer = os.pipe()
        if os.fork() == 0:
            lines = [line for line in map(_answered, range(_A_PROCESS)) if line is not None]
            os.write(writer, str(len(lines)).encode())
            signal.pause()
        os.close(writer)
        answered += int(os.read(reader, 20))
    tell(tried=_WANTED, answered=answered)
    bot.play_on(move)


def connects_and_closes() -> None:
    """Open a connection and close it, a thousand times."""
    bot = greeted()
    move = bot.play_to()
    opened = 0
    for _ in range(_WANTED):
        with contextlib.suppress(OSError):
            dial().close()
            opened += 1
    tell(tried=_WANTED, opened=opened)
    bot.play_on(move)


def speaks_when_all_is_over() -> None:
    """Open a second, silent connection. After the match, send on it and connect again and again."""
    bot = greeted()
    move = bot.play_to()
    line = dial()
    tell(lines=2)
    bot.play_on(move)
    with contextlib.suppress(OSError):
        while True:
            line.sendall(PREFACE + frame(SETTINGS))
            line.recv(1)
            line = dial()


def second_stream() -> None:
    """Call Play again on the same connection, and send a Hello there too."""
    bot = greeted()
    move = bot.play_to()
    line = bot.call.line
    second = Call(line, stream=3)
    second.send(HELLO.SerializeToString())
    found = line.frame()
    while found.kind != DATA and (found.stream != second.stream or not found.flags & END_STREAM):
        found = line.frame()
    tell(refused=found.kind != DATA)
    bot.play_on(move)


def passes_files() -> None:
    """Pass a hundred open files along with a ping, and check whether the referee keeps them.

    From Linux 6.16 on, it isn't even possible to send them.
    """
    bot = greeted()
    move = bot.play_to()
    line = bot.call.line
    reader, writer = os.pipe()
    files = array.array("i", [writer] * _FILES)
    ping, rights = frame(PING, b"in files"), [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)]
    try:
        sent = line.socket.sendmsg([ping], rights)
    except PermissionError:
        sent = line.socket.send(ping)
    os.close(writer)
    line.wait_for_pong()
    os.set_blocking(reader, False)
    try:
        kept = os.read(reader, 1) != b""
    except BlockingIOError:
        kept = True
    tell(sent=sent, kept=kept)
    bot.play_on(move)


def out_of_band() -> None:
    """Send an out-of-band byte, and check whether it got into the stream."""
    bot = greeted()
    move = bot.play_to()
    line = bot.call.line
    try:
        line.socket.send(b"x", socket.MSG_OOB)
        refused = None
    except OSError as error:
        refused = str(error)
    tell(refused=refused)
    line.wait_for_pong()
    tell(passed_over=True)
    bot.play_on(move)


def wakes_slowly() -> None:
    """Register the connection in many epolls, and send pings byte by byte.

    Reading a byte wakes all epolls, which takes some milliseconds of the reader's processor time.
    """
    bot = greeted()
    move = bot.play_to()
    line = bot.call.line
    copies = [os.dup(line.socket.fileno()) for _ in range(_COPIES)]
    epolls = [select.epoll() for _ in range(_EPOLLS)]
    for epoll, copy in itertools.product(epolls, copies):
        epoll.register(copy, select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)
    try:
        for byte in frame(PING, b"in order") * _PINGS:
            line.send(bytes([byte]))
        line.wait_for_pong()
    except Closed:
        tell_whether_it_ends(bot)
        return
    tell(ended=False)
    with contextlib.suppress(Ended):
        bot.play_on(move)


def _answered(_: int) -> socket.socket | None:
    """Return a new connection on which the referee responds, or None if it doesn't."""
    line = None
    with contextlib.suppress(OSError):
        line = dial()
        line.sendall(PREFACE + frame(SETTINGS))
        if line.recv(1):
            return line
    if line is not None:
        line.close()
    return None
