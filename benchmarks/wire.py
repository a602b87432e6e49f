"""A bare echo over gRPC, and tables in as many processes, to compare the costs of the wire and of the work.

The servers use ``grpc.aio`` under uvloop, with one socket per stream, like the referee. The clients use
``grpc.aio`` under asyncio, like the SDK.
"""

import asyncio
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Coroutine, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, NamedTuple

import grpc
import uvloop
from grpc import aio

from arena.platform.cpu_time import OwnRunDelay
from arena.play.referee.clock import RefereeClock
from arena.play.referee.conductor import Conductor
from arena.play.referee.grpc_player import PROTOCOL, GrpcPlayer
from arena.play.referee.match import RefereedMatch
from arena.play.referee.player import PlayerAnswer
from arena.play.referee.relay import listen
from arena.protocol.match import Clock
from arena.rules import Rules
from arena.sdk.match import Match as BotMatch
from arena.wire.v1 import referee_pb2 as pb
from arena.wire.v1.referee_pb2_grpc import RefereeStub
from benchmarks.talk import encoder, first_card, seeds


class Used(NamedTuple):
    """The work of one process."""

    done: int  # messages or decisions
    cpu: float  # seconds
    wall: float  # seconds


class Meter:
    """Counts messages or decisions up to a number. The first ones are the warm-up."""

    def __init__(self, warm_up: int, count: int) -> None:
        self._warm_up = warm_up
        self._last = warm_up + count
        self._seen = 0
        self._begin: Used | None = None
        self._end: Used | None = None

    @property
    def full(self) -> bool:
        """True if all have been counted."""
        return self._end is not None

    def add(self, count: int) -> None:
        """Count more messages or decisions."""
        self._seen += count
        if self._begin is None:
            if self._seen >= self._warm_up:
                self._begin = self._now()
        elif self._end is None and self._seen >= self._last:
            self._end = self._now()

    def used(self) -> Used:
        """Return the measured usage.

        Raises ValueError if the warm-up was not complete.
        """
        if self._begin is None:
            raise ValueError(f"only {self._seen} of the warm-up's {self._warm_up} were counted")
        end, begin = self._end or self._now(), self._begin
        return Used(end.done - begin.done, end.cpu - begin.cpu, end.wall - begin.wall)

    def _now(self) -> Used:
        return Used(self._seen, time.process_time(), time.monotonic())


def cpu_of(processes: Sequence[Used]) -> float:
    """Return the CPU seconds per message or decision of processes that share the work."""
    return sum(used.cpu for used in processes) / sum(used.done for used in processes)


_SPAWN: Final = multiprocessing.get_context("spawn")
_SERVICE: Final = "bench.Echo"
_WARM_UP: Final = 100
"""Number of messages at the start of each stream that are not measured."""
_CLOSE_SECONDS: Final = 1.0
_DECISIONS_A_GAME: Final = 27
"""Number of decisions of one seat at a table of two."""

Ready = Callable[[], None]


class Cost(NamedTuple):
    """The cost of a round trip or a decision, in seconds of CPU."""

    server: float  # CPU of the process with the server or the referees
    clients: float  # CPU of the processes with the clients or the bots
    rate: float  # round trips or decisions per second

    @property
    def both(self) -> float:
        """CPU of both sides."""
        return self.server + self.clients


class Shape(NamedTuple):
    """The size of a measurement."""

    processes: int  # number of client processes
    streams: int  # number of streams per process; each has one message in flight at a time
    each: int  # messages or decisions measured per stream


class Sizes(NamedTuple):
    """Size of an echo's messages in bytes, for both directions."""

    request: int
    answer: int


def measure_echo(sizes: Sizes, shape: Shape) -> Cost:
    """Measure echoes of messages with these sizes."""
    return _measure(serve_echo, call_echo, sizes, shape)


def measure_tables(shape: Shape) -> Cost:
    """Measure tables of two bots that play one game at a time.

    One process has all referees; each table has two streams.
    """
    return _measure(serve_tables, call_tables, shape, shape)


async def serve_echo(sizes: Sizes, sockets: Sequence[str], meter: Meter, ready: Ready) -> None:
    """Send requests on every stream until the meter is full."""
    request = bytes(sizes.request)
    all_here = asyncio.Barrier(len(sockets))
    left = asyncio.Semaphore(0)

    async def play(_: object, context: aio.ServicerContext[bytes, bytes]) -> None:
        await context.read()
        await all_here.wait()
        while not meter.full:
            await context.write(request)
            await context.read()
            meter.add(1)
        left.release()

    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_stream_rpc_method_handler(play)
    servers = [aio.server() for _ in sockets]
    for server, socket in zip(servers, sockets, strict=True):
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, {"Play": handler}),))
        server.add_insecure_port(f"unix:{socket}")
        await server.start()
    ready()
    for _ in sockets:
        await left.acquire()
    await asyncio.gather(*(server.stop(_CLOSE_SECONDS) for server in servers))


async def call_echo(sizes: Sizes, sockets: Sequence[str], meter: Meter, ready: Ready) -> None:
    """Echo messages on every stream."""
    ready()
    answer = bytes(sizes.answer)

    async def talk(socket: str) -> None:
        async with aio.insecure_channel(f"unix:{socket}") as channel:
            call: Any = channel.stream_stream(f"/{_SERVICE}/Play")()
            await call.write(answer)
            while await call.read() is not aio.EOF:
                meter.add(1)
                await call.write(answer)

    await asyncio.gather(*(talk(socket) for socket in sockets))


class _CountingConductor(Conductor):
    """A conductor that counts the bots' answers."""

    meter: Meter

    def answered(self, seat: int, answers: Sequence[PlayerAnswer], lag: float = 0.0) -> None:
        self.meter.add(len(answers))
        super().answered(seat, answers, lag)


async def serve_tables(shape: Shape, sockets: Sequence[str], meter: Meter, ready: Ready) -> None:
    """Run the referees of all tables."""
    games = (_WARM_UP + shape.each) // _DECISIONS_A_GAME + 2
    conductors = []
    clock = RefereeClock(time.monotonic, OwnRunDelay())
    for first in range(0, len(sockets), 2):
        players = [
            GrpcPlayer(listen(Path(socket)), Path(f"{socket}.inner"), encoder(), clock)
            for socket in sockets[first : first + 2]
        ]
        match = RefereedMatch(Rules(players=2), seeds(games), Clock())
        conductor = _CountingConductor(match, players, start_seconds=60, now=clock)
        conductor.meter = meter
        await conductor.open()
        conductors.append(conductor)
    ready()
    await asyncio.gather(*(conductor.run() for conductor in conductors))


async def call_tables(_: Shape, sockets: Sequence[str], meter: Meter, ready: Ready) -> None:
    """Run the bots in all seats."""
    ready()

    async def talk(socket: str) -> None:
        async with aio.insecure_channel(f"unix:{socket}") as channel:
            call = RefereeStub(channel).Play()
            await call.write(pb.BotMessage(hello=pb.Hello(protocol=PROTOCOL)))
            bot = BotMatch(first_card)
            while isinstance(message := await call.read(), pb.RefereeMessage):
                if moves := list(bot.answers(message)):
                    meter.add(len(moves))
                    await call.write(pb.BotMessage(moves=moves))

    await asyncio.gather(*(talk(socket) for socket in sockets))


Side = Callable[[Any, Sequence[str], Meter, Ready], Coroutine[Any, Any, None]]


def run_side(side: Side, what: object, sockets: Sequence[str], meter: Meter, sender: Connection) -> None:
    """Run one side in this process. Send None when the side is ready, and its usage at the end."""
    run = uvloop.run if side in {serve_echo, serve_tables} else asyncio.run
    run(side(what, sockets, meter, lambda: sender.send(None)))
    sender.send(meter.used())


class _Child:
    """One side in its own process."""

    def __init__(self, side: Side, what: object, sockets: Sequence[str], count: int) -> None:
        self._receiver, sender = _SPAWN.Pipe(duplex=False)
        meter = Meter(_WARM_UP * len(sockets), count * len(sockets))
        arguments = (side, what, sockets, meter, sender)
        self._process = _SPAWN.Process(target=run_side, args=arguments, daemon=True)
        self._process.start()
        sender.close()
        self._receiver.recv()

    def used(self) -> Used:
        """Wait for the end of the process and return its usage."""
        used: Used = self._receiver.recv()
        self._process.join()
        return used


def _measure(serve: Side, call: Side, what: object, shape: Shape) -> Cost:
    with tempfile.TemporaryDirectory(prefix="kaiten-w-") as folder:
        sockets = [f"{folder}/{number}" for number in range(shape.processes * shape.streams)]
        server = _Child(serve, what, sockets, shape.each)
        clients = [
            _Child(call, what, sockets[first : first + shape.streams], shape.each)
            for first in range(0, len(sockets), shape.streams)
        ]
        used = [client.used() for client in clients]
        served = server.used()
    return Cost(cpu_of([served]), cpu_of(used), served.done / served.wall)
