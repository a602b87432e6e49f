"""The referee's process, which parses untrusted input.

It gets a specification and two pipes. It has a memory limit, no privileges and no access to Docker.
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
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
import uvloop

from arena.platform.cpu_time import HostDelayMeter, OwnRunDelay
from arena.play.referee.clock import RefereeClock
from arena.play.referee.conductor import Conductor
from arena.play.referee.grpc_player import Encoder, GrpcPlayer
from arena.play.referee.match import RefereedMatch
from arena.play.referee.player import PersonPlayer, SeatPlayer
from arena.play.referee.relay import listen
from arena.play.referee.spec import (
    Ended,
    Finished,
    FromLauncher,
    FromReferee,
    Listening,
    PersonAnswered,
    PersonAsked,
    RefereeSpec,
    Started,
)

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_NO_NEW_PRIVS: Final = 38
_MIB: Final = 1024 * 1024
_MEMORY_BYTES: Final = 512 * _MIB
_STDERR_BYTES: Final = _MIB
REPORT_SECONDS: Final = 0.5
"""Interval between reports about finished rounds. Matches shorter than this send none."""


def main() -> None:
    """Play one match: read its specification from stdin, and write its record to stdout."""
    # The launcher sends nothing more until it gets Listening, so nothing is lost in the buffer.
    spec = msgspec.json.decode(sys.stdin.buffer.readline(), type=RefereeSpec)
    uvloop.run(_play(spec, sys.stdin.buffer, sys.stdout.buffer))


def _confine(spec: RefereeSpec) -> None:
    """Drop every privilege. Import everything first: files may be unreachable afterwards."""
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_BYTES, _MEMORY_BYTES))
    # With 0, some hosts would start a program for a core dump. Only root can raise a hard limit of 0.
    core_bytes = 1 if resource.getrlimit(resource.RLIMIT_CORE)[1] else 0
    resource.setrlimit(resource.RLIMIT_CORE, (core_bytes, core_bytes))
    # This limits stderr, which the launcher redirects to a file.
    resource.setrlimit(resource.RLIMIT_FSIZE, (_STDERR_BYTES, _STDERR_BYTES))
    if spec.uid is not None:
        os.setgroups([])
        os.setresgid(spec.uid, spec.uid, spec.uid)
        os.setresuid(spec.uid, spec.uid, spec.uid)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    # Changing the user clears this setting, so it comes last.
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


async def _play(spec: RefereeSpec, source: BinaryIO, sink: BinaryIO) -> None:
    lock = threading.Lock()

    def send(message: FromReferee) -> None:
        with lock:
            sink.write(msgspec.json.encode(message) + b"\n")
            sink.flush()

    encoder = Encoder()
    match = RefereedMatch(spec.rules, spec.seeds, spec.clock, spec.seatings, person=spec.person)
    now = RefereeClock(time.monotonic, OwnRunDelay())
    person = PersonPlayer(lambda view: send(PersonAsked(view)))
    # If this process is root, no bot can connect until the launcher has handed over the sockets.
    players: list[SeatPlayer] = [
        person if seat == spec.person else GrpcPlayer(listen(Path(path)), Path(str(seat)), encoder, now)
        for seat, path in enumerate(spec.sockets)
    ]
    conductor = Conductor(match, players, start_seconds=spec.clock.start_millis / 1000, now=now)
    # Relative paths, because after `_confine` the folders above this one may be unreachable. The inner
    # sockets are created after `_confine`, so that they belong to the folder's owner.
    os.chdir(spec.folder)
    _confine(spec)
    await conductor.open()
    send(Listening())
    background = [
        asyncio.create_task(_read_launcher(conductor, person, source)),
        asyncio.create_task(_report_rounds(match, send)),
    ]
    for task in background:
        task.add_done_callback(partial(_fail_match, conductor))
    await conductor.run()
    for task in background:
        task.cancel()
    send(Finished(match.games(), match.seats()))


def _fail_match(conductor: Conductor, task: asyncio.Task[None]) -> None:
    """End the match if a background task failed. Otherwise the match would wait for that task forever."""
    error = None if task.cancelled() else task.exception()
    if isinstance(error, Exception):
        conductor.failed(error)


async def _report_rounds(match: RefereedMatch, send: Callable[[FromReferee], None]) -> None:
    """Report finished rounds regularly, in a thread, so that a slow reader doesn't block the event loop."""
    while True:
        await asyncio.sleep(REPORT_SECONDS)
        for finished in match.newly_finished_rounds():
            await asyncio.to_thread(send, finished)


async def _read_launcher(conductor: Conductor, person: PersonPlayer, source: BinaryIO) -> None:
    """Handle the launcher's messages. To stop a match, the launcher kills this process."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
    while line := await reader.readline():
        match msgspec.json.decode(line, type=FromLauncher):
            case Started(seat, cpu):
                conductor.started(seat, HostDelayMeter(cpu))
            case Ended(seat, why):
                conductor.ended(seat, why)
            case PersonAnswered(round_number, turn, move):
                person.choose(round_number, turn, move)
    # The launcher has exited, so nothing would read the record.
    os._exit(1)


if __name__ == "__main__":
    main()
