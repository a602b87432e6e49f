"""What holds the attacks on the channel, and how each is taken away."""

from typing import Final

from arena.protocol.match import Clock
from tests.sandbox.hostile.attack import Control

_NO_GUARD: Final = """
from arena.play.referee import grpc_player
from arena.play.referee.frames import SendBudget
from arena.play.referee.frames import FrameGuard
FrameGuard.feed = lambda self, data: None
FrameGuard.begun = True
SendBudget._speak = lambda self, limit, count: None
grpc_player._OPTIONS = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_metadata_size", 1 << 29),
    ("grpc.absolute_max_metadata_size", 1 << 29),
    ("grpc.http2.max_ping_strikes", 0),
)
"""

_NO_FAULTS: Final = """
from arena.protocol.match import Fault
from arena.play.referee.table import GameTable
fault = GameTable._fault
def forgiving(self, seat, kind, *more, **named):
    if kind in {Fault.PROTOCOL, Fault.ILLEGAL}:
        self._stand_in(seat)
    else:
        fault(self, seat, kind, *more, **named)
GameTable._fault = forgiving
"""

_ANY_GREETING: Final = """
from arena.play.referee import grpc_player
grpc_player._greeting_refused = lambda message: None
"""

_ANY_NUMBER: Final = """
import resource
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
from arena.play.referee import relay
from arena.play.referee.frames import SendBudget
SendBudget.frame = lambda self, kind: None
relay.MAX_CONNECTIONS = relay.MAX_CONNECTIONS_IN_ALL = 10_000
"""

_ANY_STREAM: Final = """
from arena.play.referee.grpc_player import GrpcPlayer
GrpcPlayer._taken = property(lambda self: False, lambda self, taken: None)
"""

_COMES_AND_GOES: Final = f"""
{_NO_GUARD}
{_ANY_STREAM}
GrpcPlayer._lose = lambda self, fault, why: None
"""

_TAKES_FILES: Final = """
import asyncio, socket
from arena.play.referee import __main__ as process
process.uvloop = asyncio
kept = []
def receive(self, size):
    data, files, _, _ = socket.recv_fds(self, size, 253)
    kept.extend(files)
    return data
socket.socket.recv = receive
"""

_IN_BAND: Final = """
import socket
from arena.play.referee.relay import _Outer
made = _Outer.connection_made
def in_band(self, transport):
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
    made(self, transport)
_Outer.connection_made = in_band
"""

HELLO_DEADLINE: Final = Control(
    name="the deadline of the Hello", clock=Clock(start_millis=47_000, move_millis=1_000, bank_millis=2_000)
)
GUARD: Final = Control(name="the guard and gRPC's limits", referee=_NO_GUARD)
GREETING_BYTES: Final = Control(
    name="the guard of the first bytes",
    referee=_NO_GUARD,
    # What it gets it has at once, so nobody need wait for it.
    clock=Clock(start_millis=4_000, move_millis=1_000, bank_millis=2_000),
)
FAULTS: Final = Control(name="the fault of a breach", referee=_NO_FAULTS)
GREETING: Final = Control(name="the check of the greeting", referee=_ANY_GREETING)
CONNECTIONS: Final = Control(name="the number of connections", referee=_ANY_NUMBER)
ONE_STREAM: Final = Control(name="one stream a seat", referee=_ANY_STREAM)
GONE_FOR_GOOD: Final = Control(name="who leaves has left for good", referee=_COMES_AND_GOES)
NO_FILES: Final = Control(name="reading without files", referee=_TAKES_FILES)
OUT_OF_BAND: Final = Control(name="leaving out what is out of band", referee=_IN_BAND)
