"""The referee as a process of its own: the one that parses what strangers send.

It is given a specification and two pipes, and keeps nothing else: no
privileges, no access to Docker, a limit on its memory.
"""

import asyncio
import ctypes
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
import uvloop

from arena.referee.attended_time import AttendedTime
from arena.referee.conductor import Conductor
from arena.referee.door import listen
from arena.referee.encoding import Encoder
from arena.referee.frames import MAX_MESSAGE_BYTES
from arena.referee.grpc_player import MAX_NOTE_BYTES, PROTOCOL, GrpcPlayer
from arena.referee.match import Match
from arena.referee.spec import (
    Ended,
    Finished,
    FromLauncher,
    FromReferee,
    Listening,
    RefereeSpec,
    Started,
)

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_NO_NEW_PRIVS: Final = 38
_MIB: Final = 1024 * 1024
_STDERR_BYTES: Final = _MIB
NEWS_SECONDS: Final = 0.5
"""Between two looks for what may be watched: a match that is quicker says nothing of it."""


def main() -> None:
    """Play one match: specification on standard input, record on standard output."""
    # A Ctrl-C at the terminal reaches the whole group; the launcher decides what it means for a match.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Nothing follows this line until Listening has been said, so nothing is lost in its buffer.
    spec = msgspec.json.decode(sys.stdin.buffer.readline(), type=RefereeSpec)
    uvloop.run(_play(spec, sys.stdin.buffer, sys.stdout.buffer))


def _confine(spec: RefereeSpec) -> None:
    """Give up every privilege. Everything is imported: files may be out of reach now."""
    limit = spec.memory_mib * _MIB
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # What it prints on stderr goes into a file of the launcher's.
    resource.setrlimit(resource.RLIMIT_FSIZE, (_STDERR_BYTES, _STDERR_BYTES))
    if spec.uid is not None:
        os.setgroups([])
        os.setresgid(spec.uid, spec.uid, spec.uid)
        os.setresuid(spec.uid, spec.uid, spec.uid)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    # After the change of user, which clears it.
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


async def _play(spec: RefereeSpec, source: BinaryIO, sink: BinaryIO) -> None:
    one_at_a_time = threading.Lock()

    def say(message: FromReferee) -> None:
        with one_at_a_time:
            sink.write(msgspec.json.encode(message) + b"\n")
            sink.flush()

    encoder = Encoder(protocol=PROTOCOL, max_message_bytes=MAX_MESSAGE_BYTES, max_note_bytes=MAX_NOTE_BYTES)
    match = Match(spec.rules, spec.seeds, spec.clock)
    # Where root listens, nobody can dial in before the launcher has handed the sockets over.
    listening = [listen(Path(path)) for path in spec.sockets]
    conductor = Conductor(
        match,
        [GrpcPlayer(door, Path(str(seat)), encoder) for seat, door in enumerate(listening)],
        start_seconds=spec.clock.start_millis / 1000,
        now=AttendedTime(time.monotonic),
    )
    # The inner sockets are made in this folder, and by whom it belongs to. Their paths have nothing before
    # their names, because the folders above may be out of reach in a moment.
    os.chdir(spec.folder)
    _confine(spec)
    await conductor.open()
    say(Listening())
    beside = [asyncio.create_task(_follow(conductor, source)), asyncio.create_task(_tell_news(match, say))]
    await conductor.run()
    for task in beside:
        task.cancel()
    say(Finished(match.games(), match.seats()))


async def _tell_news(match: Match, say: Callable[[FromReferee], None]) -> None:
    """Say now and then which rounds are over. In a thread: bots' clocks must not wait for a slow reader."""
    while True:
        await asyncio.sleep(NEWS_SECONDS)
        for news in match.news():
            await asyncio.to_thread(say, news)


async def _follow(conductor: Conductor, source: BinaryIO) -> None:
    """Hear what the launcher has to say. It ends the match by ending this process."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
    while line := await reader.readline():
        match msgspec.json.decode(line, type=FromLauncher):
            case Started(seat):
                conductor.started(seat)
            case Ended(seat, why):
                conductor.ended(seat, why)
    # The launcher has gone, and nobody would read the record.
    os._exit(1)
