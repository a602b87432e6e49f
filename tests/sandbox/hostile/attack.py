"""What an attack is: a program, the verdict it must get, and the control that holds it."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from arena.protocol.faults import Fault
from arena.protocol.match import Clock, MatchRecord, SeatReport
from arena.sandbox.runtime import MATCH_LABEL, SEAT_LABEL

SEAT: Final = 0
"""The first attacker's, in every hostile match; its accomplice, where it has one, sits on the next seat."""

FIRST_SLOT: Final = 100
"""The slots from here on are the suite's: what runs as their users is nobody else's."""

CLOCK: Final = Clock(start_millis=10_000, move_millis=1_000, bank_millis=5_000)
"""Short, but an honest bot never comes near it."""

QUICK: Final = Clock(start_millis=10_000, move_millis=1_000, bank_millis=2_000)
"""For attacks that use up their time, so that the match ends soon; honest bots don't come near it."""

PATIENT: Final = Clock(start_millis=10_000, move_millis=10_000, bank_millis=10_000)
"""For attacks that take several seconds and must not fail for lack of time."""

MATCH: Final = "hostile"
"""Name of the match that the attacker plays in."""

VERDICTS: Final = {
    Fault.TIMEOUT: "T",
    Fault.ABSENT: "T",
    Fault.CRASH: "C",
    Fault.PROTOCOL: "P",
    Fault.ILLEGAL: "P",
    Fault.EXPELLED: "P",
}
"""What the first fault is called; without any it is N."""


class FaultAt(NamedTuple):
    """A fault of the attacker in the first game."""

    round: int
    turn: int
    fault: Fault


class Peak(NamedTuple):
    """The most that was seen from outside while a match was played."""

    host: float = 0  # memory that the host had less than before; bytes
    bots: float = 0  # memory of the largest bot, as its control group counts it; bytes
    referees: float = 0  # memory of the largest referee; bytes
    # What the engine's folders of the match's containers held, logs and written layers; bytes.
    disk: float = 0
    tasks: float = 0  # processes and threads of the bot that had most, as the host counts them
    cores: float = 0  # processor time of the bot that took most, a second in half a second of it


def hostile_seat(labels: Mapping[str, str]) -> int | None:
    """Return the seat of a container of the hostile match; None for all others."""
    return int(labels[SEAT_LABEL]) if labels.get(MATCH_LABEL) == MATCH else None


class CpuQuota(NamedTuple):
    """A bot's share of the processor."""

    cores: float = 0.0  # 0 for no limit
    throttled: int = 0  # in how many periods of 0.1 s it was used up


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of an attack."""

    record: MatchRecord  # of the hostile match
    seat: int = SEAT  # the attacker's. Its accomplice, where it has one, sits on the next
    peak: Peak  # the most that was used meanwhile
    left: tuple[str, ...]  # what was still there after the match, in words, one thing each
    seconds: float  # from the start of the match to its end
    runtime: str  # what ran the containers, such as `runc`; `runsc` for gVisor under any name
    # The share of the processor of the bot on each seat, and how often it was used up.
    quotas: Mapping[int, CpuQuota] = field(default_factory=dict)

    @property
    def gvisor(self) -> bool:
        """Whether it was gVisor."""
        return self.runtime == "runsc"

    @property
    def report(self) -> SeatReport:
        """What the match's record says of the attacker."""
        return self.record.seats[self.seat]

    @property
    def quota(self) -> CpuQuota:
        """The attacker's."""
        return self.quotas.get(self.seat, CpuQuota())

    @property
    def told(self) -> Mapping[str, Any]:
        """What the program told: every line of its stderr that is a JSON object, later facts over earlier."""
        return self._told_by(self.seat)

    @property
    def accomplice_told(self) -> Mapping[str, Any]:
        """What its accomplice told, in the same way."""
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
    def verdict(self) -> str:
        """T, C, P or N."""
        return VERDICTS[self.faults[0].fault] if self.faults else "N"


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """What holds an attack, and how a test takes it away. Where layers hold it, all of them go."""

    name: str  # for the table
    # Changes the arguments of the engine's create call of the attacker's container, in place.
    template: Callable[[dict[str, Any]], None] | None = None
    referee: str | None = None  # lines of Python that run in the referee's process before its `main()`
    clock: Clock | None = None  # the match's clock instead of the attack's
    # Holds while the attack is played and judged.
    within: Callable[[], AbstractContextManager[object]] = nullcontext
    gvisor: str = ""  # why a test can't take it away under gVisor; empty: it can
    # What is left is looked for just before the containers are removed, and not after it.
    removal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A bot that plays honestly but for its attack."""

    number: int  # of the reference's list
    name: str  # a few words; unique
    # Runs in the bot's container, where this folder is as it is here, and `arena` is what the base image
    # holds. Its module has no side effects and imports nothing else of the tests.
    program: Callable[[], object]
    verdicts: str = "N"  # the letters that are right
    # Exactly these must come, in the first game; None: as the verdict says, wherever.
    faults: tuple[FaultAt, ...] | None = None
    # What the attack got that it must not get, in words; empty: nothing. It must be empty with the control in
    # place, and must not be without it. A fact that was never told is an error.
    achieved: Callable[[Outcome], str]
    control: Control  # what holds it
    clock: Clock = CLOCK  # the hostile match's
    # Sits on the next seat, plays honestly too, and loses the control with it.
    accomplice: Callable[[], object] | None = None

    def commands(self) -> tuple[tuple[str, ...], ...]:
        """Return the words that start its programs in their containers."""
        return tuple(start_of(program) for program in (self.program, self.accomplice) if program is not None)


def seats_of(attacks: Sequence[Attack]) -> tuple[int, ...]:
    """Return the seats of attackers, who sit side by side with their accomplices."""
    sizes = [len(attack.commands()) for attack in attacks]
    return tuple(SEAT + sum(sizes[:place]) for place in range(len(sizes)))


def title(attack: Attack) -> str:
    """Return what a test of an attack is called."""
    return f"{attack.number}-{attack.name}"


def start_of(program: Callable[[], object]) -> tuple[str, ...]:
    """Return the words that start a program in a container."""
    module, name = program.__module__, program.__name__
    return ("python3", "-c", f"from {module} import {name}; {name}()")
