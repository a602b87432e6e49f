"""Defines an attack: a program, the verdict it must get, and the control that stops it."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from arena.protocol.faults import Fault
from arena.protocol.match import Clock, MatchRecord, SeatReport
from arena.sandbox.runtime import MATCH_LABEL, SEAT_LABEL

SEAT: Final = 0
"""Seat of the first attacker in every hostile match. An accomplice has the seat after its attacker's."""

FIRST_SLOT: Final = 100
"""The suite uses the slots from here on, and nothing else runs as these slots' users."""

CLOCK: Final = Clock(start_millis=10_000, move_millis=1_000, bank_millis=5_000)
"""Short, but no honest bot comes near its limits."""

QUICK: Final = Clock(start_millis=10_000, move_millis=1_000, bank_millis=5_000)
"""For attacks that use up their time, so that the match ends soon; no honest bot comes near its limits."""

PATIENT: Final = Clock(start_millis=10_000, move_millis=10_000, bank_millis=10_000)
"""For attacks that take several seconds and must not fail for lack of time."""

MATCH: Final = "hostile"
"""Id of the match that the attacker plays in."""

VERDICTS: Final = {
    Fault.TIMEOUT: "T",
    Fault.ABSENT: "T",
    Fault.CRASH: "C",
    Fault.PROTOCOL: "P",
    Fault.ILLEGAL: "P",
    Fault.EXPELLED: "P",
}
"""Verdicts by the attacker's first fault. Without a fault, the verdict is N."""


class FaultAt(NamedTuple):
    """A fault of the attacker in the first game."""

    round: int
    turn: int
    fault: Fault


class Peak(NamedTuple):
    """The highest values that were measured from outside while a match was played."""

    host: float = 0  # decrease of the host's available memory; bytes
    bots: float = 0  # memory of the largest bot, as its control group counts it; bytes
    referees: float = 0  # memory of the largest referee; bytes
    # Size of the engine's folders for the match's containers: logs and written layers; bytes.
    disk: float = 0
    tasks: float = 0  # processes and threads of the bot that had the most, as the host counts them
    cores: float = 0  # highest processor use of a bot over half a second


def hostile_seat(labels: Mapping[str, str]) -> int | None:
    """Return the seat of a container of the hostile match, or None for any other container."""
    return int(labels[SEAT_LABEL]) if labels.get(MATCH_LABEL) == MATCH else None


class CpuQuota(NamedTuple):
    """A bot's share of the processor."""

    cores: float = 0.0  # 0 for no limit
    throttled: int = 0  # number of periods of 0.1 s in which the bot used it up


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of an attack."""

    record: MatchRecord  # of the hostile match
    seat: int = SEAT  # of the attacker; its accomplice, if any, has the next one
    peak: Peak  # the highest usage while it was played
    left: tuple[str, ...]  # descriptions of what remained after the match
    seconds: float  # from the start of the match to its end
    runtime: str  # runtime of the containers, such as `runc`; always `runsc` for gVisor
    # Each seat's share of the processor, and how often its bot used it up.
    quotas: Mapping[int, CpuQuota] = field(default_factory=dict)

    @property
    def gvisor(self) -> bool:
        """True if gVisor ran the containers."""
        return self.runtime == "runsc"

    @property
    def report(self) -> SeatReport:
        """The attacker's report in the match's record."""
        return self.record.seats[self.seat]

    @property
    def quota(self) -> CpuQuota:
        """The attacker's share of the processor."""
        return self.quotas.get(self.seat, CpuQuota())

    @property
    def told(self) -> Mapping[str, Any]:
        """The facts in the JSON objects on the program's stderr. Later ones replace earlier ones."""
        return self._told_by(self.seat)

    @property
    def accomplice_told(self) -> Mapping[str, Any]:
        """The facts that its accomplice reported in the same way."""
        return self._told_by(self.seat + 1)

    def _told_by(self, seat: int) -> Mapping[str, Any]:
        facts: dict[str, Any] = {}
        for line in self.record.seats[seat].stderr.splitlines():
            if line.startswith("{") and line.endswith("}"):
                facts |= json.loads(line)
        return facts

    @property
    def faults(self) -> tuple[FaultAt, ...]:
        """The attacker's faults in the first game, in order."""
        steps = self.record.games[0].steps
        turns = len(steps) // 3
        return tuple(
            FaultAt(number // turns + 1, number % turns + 1, decision.fault)
            for number, step in enumerate(steps)
            if (decision := step[self.seat]) is not None and decision.fault is not None
        )

    @property
    def times(self) -> list[tuple[float | None, float | None]]:
        """The attacker's decision times and host delays in the first game, in milliseconds."""
        decisions = (step[self.seat] for step in self.record.games[0].steps)
        return [(each.millis, each.waited_millis) for each in decisions if each is not None]

    @property
    def verdict(self) -> str:
        """The verdict: T, C, P or N."""
        return VERDICTS[self.faults[0].fault] if self.faults else "N"


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """What stops an attack, and how a test takes it away, with all its layers if it has several."""

    name: str  # for the table
    # Changes, in place, the arguments of the engine's create call for the attacker's container.
    template: Callable[[dict[str, Any]], None] | None = None
    referee: str | None = None  # lines of Python that run in the referee's process before its `main()`
    clock: Clock | None = None  # the match's clock instead of the attack's
    # Items that the attack must get without the control. An entry `unshare` also matches items such as
    # `unshare: users`. Not checked under gVisor, whose own kernel refuses some of them.
    opens: Sequence[str] = ()
    # A context that lasts while the attack is played and judged.
    within: Callable[[], AbstractContextManager[object]] = nullcontext
    gvisor: str = ""  # why a test can't take it away under gVisor; empty if it can
    # True to look for remains just before the containers are removed, not afterwards.
    removal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A bot that plays honestly except for its attack."""

    number: int  # in the catalog; a variant has the number of the attack that it resembles
    name: str  # a few words; unique
    # Runs in the bot's container, which holds a copy of this folder and the base image's `arena`. Its module
    # has no side effects and imports nothing else from the tests.
    program: Callable[[], object]
    verdicts: str = "N"  # the allowed letters
    # Exactly these faults must occur in the first game. None: any that lead to an allowed verdict.
    faults: tuple[FaultAt, ...] | None = None
    # Describes what the attack got that it must not get. Must return an empty string if the control is in
    # place, and a non-empty one if it isn't. A fact that the program didn't report is an error.
    achieved: Callable[[Outcome], str]
    control: Control  # what stops it
    clock: Clock = CLOCK  # of the hostile match
    # A second program, on the next seat, that also plays honestly and loses the same control.
    accomplice: Callable[[], object] | None = None

    def commands(self) -> tuple[tuple[str, ...], ...]:
        """Return the commands that start its programs in their containers."""
        return tuple(start_of(program) for program in (self.program, self.accomplice) if program is not None)


def seats_of(attacks: Sequence[Attack]) -> tuple[int, ...]:
    """Return the attackers' seats. Each accomplice has the seat after its attacker's."""
    sizes = [len(attack.commands()) for attack in attacks]
    return tuple(SEAT + sum(sizes[:place]) for place in range(len(sizes)))


def title(attack: Attack) -> str:
    """Return an attack's name in test ids."""
    return f"{attack.number}-{attack.name}"


def start_of(program: Callable[[], object]) -> tuple[str, ...]:
    """Return the command that starts a program in a container."""
    module, name = program.__module__, program.__name__
    return ("python3", "-c", f"from {module} import {name}; {name}()")
