"""Attacks on the channel, numbers 10 to 20 and 63, and how to take each control away."""

from collections.abc import Callable
from typing import Final

from arena.protocol.faults import Fault
from arena.protocol.match import Clock
from tests.sandbox.hostile.attack import PATIENT, VERDICTS, Attack, Control, FaultAt, Outcome
from tests.sandbox.hostile.bot import MOMENT
from tests.sandbox.hostile.channel import connections, floods, garbage, moves, silence, sizes

_NO_GUARD: Final = """
from arena.play.referee import grpc_player
from arena.play.referee.frames import SendBudget
from arena.play.referee.frames import FrameGuard
FrameGuard.feed = lambda self, data: None
FrameGuard.has_preface = True
SendBudget._count_sent = SendBudget._count_on_channel = lambda self, limit, count: None
grpc_player._OPTIONS = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_metadata_size", 1 << 29),
    ("grpc.absolute_max_metadata_size", 1 << 29),
    ("grpc.http2.max_ping_strikes", 0),
)
"""

_ANY_PROCESSOR_TIME: Final = """
from arena.play.referee.frames import SendBudget
SendBudget.count_processor_time = lambda self, seconds: None
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
grpc_player._greeting_error = lambda message: None
"""

_ANY_NUMBER: Final = """
import resource
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
from arena.play.referee import relay
from arena.play.referee.frames import SendBudget
SendBudget.count_frame = lambda self, kind: None
relay.MAX_CONNECTIONS = relay.MAX_CONNECTIONS_PER_MATCH = 10_000
"""

_ANY_STREAM: Final = """
from arena.play.referee.grpc_player import GrpcPlayer
GrpcPlayer._has_stream = property(lambda self: False, lambda self, value: None)
"""

_COMES_AND_GOES: Final = f"""
{_NO_GUARD}
{_ANY_STREAM}
GrpcPlayer._lose = lambda self, fault, why, code: None
"""

_TAKES_FILES: Final = """
import socket
from arena.play.referee import relay
relay.SO_PASSRIGHTS = 0
kept = []
def receive(self, source):
    data, files, _, _ = socket.recv_fds(source, 65536, 253)
    kept.extend(files)
    return data
relay.Relay.receive = receive
"""

_IN_BAND: Final = """
import socket
from arena.play.referee.relay import _Connection
made = _Connection.__init__
def in_band(self, relay, bot):
    bot.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
    made(self, relay, bot)
_Connection.__init__ = in_band
"""

HELLO_DEADLINE: Final = Control(
    name="the Hello's deadline", clock=Clock(start_millis=47_000, move_millis=1_000, bank_millis=2_000)
)
GUARD: Final = Control(name="the guard and gRPC's limits", referee=_NO_GUARD)
GREETING_BYTES: Final = Control(
    name="the guard's check of the first bytes",
    referee=_NO_GUARD,
    # Without the control the attack succeeds immediately, so the match needn't be long.
    clock=Clock(start_millis=4_000, move_millis=1_000, bank_millis=2_000),
)
FAULTS: Final = Control(name="the fault for a breach", referee=_NO_FAULTS)
GREETING: Final = Control(name="the check of the Hello", referee=_ANY_GREETING)
CONNECTIONS: Final = Control(name="the limits on connections", referee=_ANY_NUMBER)
ONE_STREAM: Final = Control(name="one stream per seat", referee=_ANY_STREAM)
GONE_FOR_GOOD: Final = Control(name="no return after a lost stream", referee=_COMES_AND_GOES)
NO_FILES: Final = Control(name="reading without receiving files", referee=_TAKES_FILES)
PROCESSOR_TIME: Final = Control(
    name="the limit on the relay's processor time",
    referee=_ANY_PROCESSOR_TIME,
    gvisor="sockets wake its own waiters, at the bot's expense",
)
OUT_OF_BAND: Final = Control(name="dropping out-of-band bytes", referee=_IN_BAND)

FIRST: Final = (1, 1)
NEXT: Final = (MOMENT[0], MOMENT[1] + 1)
ROUND_BEGINS: Final = (MOMENT[0], 1)
_LATE_SECONDS: Final = 45.0
"""Longer than a match takes with the deadline, even if a busy host takes seconds to start bots, but shorter
than it takes without the deadline."""

_BYTES: Final = 40
"""More than arrive before the Hello's deadline, at one per second, even if a busy host prolongs that time."""


def _late(outcome: Outcome) -> str:
    return f"{outcome.seconds:.1f} s of the others' time" if outcome.seconds > _LATE_SECONDS else ""


def not_ended(outcome: Outcome) -> str:
    """Say what a bot got although its stream should have ended."""
    told = outcome.told
    if not told["ended"]:
        return f"everything accepted: {dict(told)}"
    return "a new stream" if told["came_back"] else ""


def not_noticed(outcome: Outcome) -> str:
    """Say if a bot got no fault although it should have."""
    return "" if outcome.told["noticed"] else "no fault"


def attack(  # noqa: PLR0913, PLR0917 - the parts of an attack
    number: int,
    name: str,
    program: Callable[[], object],
    at: tuple[int, int] | None,
    fault: Fault | None,
    control: Control,
    achieved: Callable[[Outcome], str],
) -> Attack:
    """Describe an attack that leads to one fault, or to none."""
    return Attack(
        number=number,
        name=name,
        program=program,
        verdicts="N" if fault is None else VERDICTS[fault],
        faults=() if at is None or fault is None else (FaultAt(*at, fault),),
        control=control,
        achieved=achieved,
    )


def cut_off(
    number: int,
    name: str,
    program: Callable[[], object],
    at: tuple[int, int] = MOMENT,
    fault: Fault = Fault.CRASH,
) -> Attack:
    """Describe an attack that the guard ends."""
    return attack(number, name, program, at, fault, GUARD, not_ended)


def breach(
    name: str, program: Callable[[], object], at: tuple[int, int] = MOMENT, fault: Fault = Fault.PROTOCOL
) -> Attack:
    """Describe a message that breaks the protocol or the rules."""
    return attack(18, name, program, at, fault, FAULTS, not_noticed)


ATTACKS: Final = (
    attack(
        10,
        "never connects",
        silence.never_connects,
        FIRST,
        Fault.ABSENT,
        HELLO_DEADLINE,
        _late,
    ),
    attack(
        11,
        "connects, stays silent",
        silence.connects_and_is_silent,
        FIRST,
        Fault.ABSENT,
        HELLO_DEADLINE,
        _late,
    ),
    attack(
        12,
        "one byte per second",
        silence.one_byte_a_second,
        FIRST,
        Fault.ABSENT,
        HELLO_DEADLINE,
        lambda outcome: f"{outcome.told['sent']} bytes sent" if outcome.told["sent"] > _BYTES else "",
    ),
    cut_off(13, "declares a 4 GiB message", sizes.declares_4_gib),
    cut_off(14, "endless stream", floods.endless_messages, fault=Fault.EXPELLED),
    attack(
        15,
        "1,000 connections",
        connections.a_thousand_connections,
        None,
        None,
        CONNECTIONS,
        lambda outcome: f"{outcome.told['answered']} more of them" if outcome.told["answered"] > 3 else "",
    ),
    cut_off(16, "rapid stream resets", floods.rapid_resets),
    attack(
        17,
        "garbage bytes",
        garbage.other_tongues,
        FIRST,
        Fault.ABSENT,
        GREETING_BYTES,
        lambda outcome: f"{outcome.told['heard']} bytes of a response" if outcome.told["heard"] else "",
    ),
    breach("illegal move", moves.card_not_in_hand, fault=Fault.ILLEGAL),
    breach("second move", moves.second_thoughts, NEXT),
    breach("early move", moves.early, (MOMENT[0], MOMENT[1] + 2)),
    breach("move of a wrong game", moves.wrong_game),
    cut_off(19, "huge metadata", sizes.huge_metadata, FIRST),
    cut_off(20, "compressed bomb", sizes.gzip_bomb, FIRST),
    Attack(
        number=63,
        name="makes every read slow",
        program=connections.wakes_slowly,
        verdicts="NC",  # under gVisor it has no effect
        achieved=lambda outcome: "" if outcome.gvisor else not_ended(outcome),
        control=PROCESSOR_TIME,
        clock=PATIENT,
    ),
)


def _nothing(_: Outcome) -> str:
    return ""


def without_fault(program: Callable[[], object]) -> Attack:
    """Describe a bot that does only what is allowed."""
    return attack(15, program.__name__, program, None, None, Control(name="none is needed"), _nothing)
