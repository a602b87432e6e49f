"""Matches between bots in this process and bots in processes that connect to sockets."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from arena.platform.cpu_time import OwnRunDelay
from arena.play.referee.clock import RefereeClock
from arena.play.referee.conductor import Conductor
from arena.play.referee.grpc_player import Encoder, GrpcPlayer
from arena.play.referee.match import RefereedMatch
from arena.play.referee.player import SeatPlayer
from arena.play.referee.relay import listen
from arena.play.referee.spec import RefereeSpec
from arena.protocol.match import Clock, GameRecord
from arena.rules import Move, Rules, View
from tests.folders import short_folder
from tests.patience import PATIENT_CLOCK, WAIT_SECONDS

BOT = """
import sys
from arena.sdk import run

def last(view):
    return view.legal_moves()[-1]

def fails(view):
    if (view.round, view.turn) == (2, 1):
        raise RuntimeError("no more sushi")
    return last(view)

run({"last": last, "fails": fails}[sys.argv[1]], games_at_once=int(sys.argv[2]))
"""


def last(view: View) -> Move:
    """Play the last legal move."""
    return view.legal_moves()[-1]


def fails(view: View) -> Move:
    """Crash in round 2."""
    if (view.round, view.turn) == (2, 1):
        raise RuntimeError("no more sushi")
    return last(view)


CHOOSERS: dict[str, Callable[[View], Move]] = {"last": last, "fails": fails}


def attended() -> RefereeClock:
    """Return a referee's clock on the real time."""
    return RefereeClock(time.monotonic, OwnRunDelay())


def conduct(
    players: Sequence[SeatPlayer], rules: Rules, games: int, clock: Clock = PATIENT_CLOCK
) -> tuple[GameRecord, ...]:
    """Play a match to its end and return its games."""
    seeds = [f"{number:032x}" for number in range(1, games + 1)]

    async def play() -> tuple[GameRecord, ...]:
        match = RefereedMatch(rules, seeds, clock)
        conductor = Conductor(match, players, start_seconds=clock.start_millis / 1000, now=attended())
        await conductor.open()
        for seat in range(len(players)):
            conductor.started(seat)
        async with asyncio.timeout(WAIT_SECONDS):
            await conductor.run()
        return match.games()

    return asyncio.run(play())


@contextmanager
def bots_over_sockets(
    names: Sequence[str], games_at_once: int, program: str = BOT
) -> Iterator[list[GrpcPlayer]]:
    """Yield bots that run as processes. ``program`` gets a bot's name and its number of games at once."""
    encoder = Encoder()
    with short_folder() as folder:
        sockets = [Path(folder, f"{seat}.sock") for seat in range(len(names))]
        processes = [
            subprocess.Popen(  # noqa: S603 - our own bot
                [sys.executable, "-c", program, name, str(games_at_once)],
                env={**os.environ, "ARENA_REFEREE": f"unix://{socket}"},
                stderr=subprocess.DEVNULL,
            )
            for name, socket in zip(names, sockets, strict=True)
        ]
        now = attended()
        try:
            yield [
                GrpcPlayer(listen(socket), socket.with_suffix(".inner"), encoder, now) for socket in sockets
            ]
            for process in processes:
                process.wait(WAIT_SECONDS)
        finally:
            for process in processes:
                process.kill()
                process.wait()


@contextmanager
def referee_spec(clock: Clock | None = None) -> Iterator[RefereeSpec]:
    """Yield a referee process's specification of a game between two bots, in a new folder."""
    with short_folder() as root:
        folder = root / "referee"
        folder.mkdir(0o700)
        yield RefereeSpec(
            rules=Rules(players=2),
            seeds=("1" * 32,),
            seatings=(),
            clock=clock or Clock(),
            sockets=tuple(f"{root}/{seat}.sock" for seat in range(2)),
            folder=str(folder),
            uid=None,
        )


_SPLICE = {"275", "76"}  # on x86-64 and on 64-bit ARM


def waits_in_splice(thread: Thread) -> bool:
    """Return whether a thread of this process is in the call that holds a pipe's lock."""
    return Path(f"/proc/self/task/{thread.native_id}/syscall").read_text().split()[0] in _SPLICE
