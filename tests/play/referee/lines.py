"""Matches between bots in this process and bots in processes that connect to sockets."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from arena.platform.cpu_time import OwnRunDelay
from arena.play.referee.clock import RefereeClock
from arena.play.referee.conductor import Conductor
from arena.play.referee.grpc_player import Encoder, GrpcPlayer
from arena.play.referee.match import RefereedMatch
from arena.play.referee.player import SeatPlayer
from arena.play.referee.relay import listen
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
    """Yield players for bots that run as processes.

    The arguments of ``program`` are the bot's name and the number of games it plays at once.
    """
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
