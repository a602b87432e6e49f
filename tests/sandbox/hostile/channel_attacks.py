"""The attacks on the channel: numbers 10 to 20 of the reference's list."""

from collections.abc import Callable
from typing import Final

from arena.protocol.faults import Fault
from tests.sandbox.hostile.attack import Attack, Control, FaultAt, Outcome
from tests.sandbox.hostile.bot import MOMENT
from tests.sandbox.hostile.channel import connections, floods, garbage, moves, silence, sizes
from tests.sandbox.hostile.channel_controls import CONNECTIONS, FAULTS, GREETING_BYTES, GUARD, HELLO_DEADLINE

FIRST: Final = (1, 1)
NEXT: Final = (MOMENT[0], MOMENT[1] + 1)
ROUND_BEGINS: Final = (MOMENT[0], 1)
_LATE_SECONDS: Final = 45.0
"""Less than without the deadline, and more than with it, where a busy machine takes seconds to start bots."""

_BYTES: Final = 40
"""More than arrive in the time to the Hello, one a second, also where that is long on a busy machine."""


def _late(seconds: float) -> str:
    return f"{seconds:.1f} s of the others' time" if seconds > _LATE_SECONDS else ""


def not_ended(outcome: Outcome) -> str:
    """Say what a bot got that should have been cut off."""
    told = outcome.told
    if not told["ended"]:
        return f"everything in: {dict(told)}"
    return "back in" if told["came_back"] else ""


def not_noticed(outcome: Outcome) -> str:
    """Say what a bot got that should have had a fault."""
    return "" if outcome.told["noticed"] else "no fault for it"


def attack(  # noqa: PLR0913, PLR0917 - an attack is made of these
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
        verdicts=_LETTERS[fault],
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


_LETTERS: Final = {
    None: "N",
    Fault.ABSENT: "T",
    Fault.TIMEOUT: "T",
    Fault.CRASH: "C",
    Fault.PROTOCOL: "P",
    Fault.ILLEGAL: "P",
    Fault.EXPELLED: "P",
}

ATTACKS: Final = (
    attack(
        10,
        "never connects",
        silence.never_connects,
        FIRST,
        Fault.ABSENT,
        HELLO_DEADLINE,
        lambda outcome: _late(outcome.seconds),
    ),
    attack(
        11,
        "connects, stays silent",
        silence.connects_and_is_silent,
        FIRST,
        Fault.ABSENT,
        HELLO_DEADLINE,
        lambda outcome: _late(outcome.seconds),
    ),
    attack(
        12,
        "one byte a second",
        silence.one_byte_a_second,
        FIRST,
        Fault.ABSENT,
        HELLO_DEADLINE,
        lambda outcome: f"{outcome.told['sent']} bytes in" if outcome.told["sent"] > _BYTES else "",
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
        lambda outcome: f"{outcome.told['answered']} more lines" if outcome.told["answered"] > 3 else "",
    ),
    cut_off(16, "rapid stream resets", floods.rapid_resets),
    attack(
        17,
        "garbage bytes",
        garbage.other_tongues,
        FIRST,
        Fault.ABSENT,
        GREETING_BYTES,
        lambda outcome: f"{outcome.told['heard']} bytes of an answer" if outcome.told["heard"] else "",
    ),
    breach("illegal move", moves.card_not_in_hand, fault=Fault.ILLEGAL),
    breach("second move", moves.second_thoughts, NEXT),
    breach("early move", moves.early, (MOMENT[0], MOMENT[1] + 2)),
    breach("move of a wrong game", moves.wrong_game),
    cut_off(19, "huge metadata", sizes.huge_metadata, FIRST),
    cut_off(20, "compressed bomb", sizes.gzip_bomb, FIRST),
)


def _nothing(_: Outcome) -> str:
    return ""


def without_fault(program: Callable[[], object]) -> Attack:
    """Describe a bot that does no more than it may."""
    return attack(15, program.__name__, program, None, None, Control(name="none is needed"), _nothing)
