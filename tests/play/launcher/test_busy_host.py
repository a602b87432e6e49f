"""On a host with other work: what the host keeps from a bot is not the bot's time, and all else is."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import pytest

from arena.protocol.faults import Fault
from arena.protocol.match import Clock, Decision, MatchRecord, decode, encode
from arena.scheduler.check import check_record
from tests.play.launcher import programs
from tests.play.launcher.conftest import Hall

CLOCK = Clock(start_millis=10_000, move_millis=1_000, bank_millis=300)
"""A bot that takes 0.5 s has no fault."""

LARGER_BANK = Clock(start_millis=10_000, move_millis=1_000, bank_millis=1_200)
"""A bot that takes 1.8 s has a fault in its second decision, with 0.4 s to spare on either side."""

SMALLER_BANK = Clock(start_millis=10_000, move_millis=1_000, bank_millis=850)
"""A bot that takes 1.5 s has a fault in its second decision."""

_OTHERS = 8


@contextmanager
def other_work() -> Iterator[None]:
    """Keep the processors busy, at the priority of all else."""
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(_OTHERS)]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def play(hall: Hall, program: str, clock: Clock, *, busy: bool) -> tuple[list[Decision], list[Decision]]:
    """Play a game of a program and a good bot; return what was decided in both seats."""
    spec = hall.spec(program, programs.GOOD, clock=clock)
    with other_work() if busy else nullcontext():
        record = decode(hall.launcher.play(encode(spec), (0, 1)), MatchRecord)
    check_record(spec, record)
    steps = record.games[0].steps
    one, other = ([step[seat] for step in steps] for seat in (0, 1))
    return [each for each in one if each], [each for each in other if each]


def faulted(decisions: list[Decision]) -> list[int]:
    """Return the numbers of those that timed out, from 0; nothing else went wrong."""
    faults = {number: each.fault for number, each in enumerate(decisions) if each.fault}
    assert set(faults.values()) <= {Fault.TIMEOUT}
    return list(faults)


def told(program: str, seconds: float) -> str:
    """Return a program that works for this long."""
    return program.replace("SECONDS", str(seconds))


@pytest.mark.parametrize(
    ("program", "clock", "faults"),
    [
        pytest.param(programs.SLEEPS, LARGER_BANK, [1, 2, 3], id="sleeps for 1.8 s"),
        pytest.param(told(programs.WORKS, 0.6), SMALLER_BANK, [1, 2, 3], id="works for 1.5 s at its quota"),
        pytest.param(
            told(programs.FORKS, 0.6), SMALLER_BANK, [1, 2, 3], id="works for 1.5 s in six processes"
        ),
        pytest.param(told(programs.WORKS, 0.2), CLOCK, [], id="works for 0.5 s at its quota"),
    ],
)
@pytest.mark.parametrize("busy", [False, True], ids=["quiet host", "busy host"])
@pytest.mark.docker
def test_a_bot_times_out_to_the_decision(
    docker_hall: Hall, program: str, clock: Clock, faults: list[int], *, busy: bool
) -> None:
    """By what it does itself, however long the host makes that last."""
    own, good = play(docker_hall, program, clock, busy=busy)
    assert faulted(own) == faults
    assert faulted(good) == []


@pytest.mark.parametrize(
    ("seconds", "greets"),
    [pytest.param(0.4, True, id="2.5 s at its quota"), pytest.param(3.0, False, id="8.5 s at its quota")],
)
@pytest.mark.docker
def test_the_time_to_greet_is_what_a_bot_needs_itself(
    docker_hall: Hall, seconds: float, *, greets: bool
) -> None:
    """The libraries of a bot take 0.5 s of a processor's time; what it does beside that is told here."""
    program = f"""
import time
while time.process_time() < {seconds}:
    pass
{programs.GOOD}"""
    clock = Clock(start_millis=6_000, move_millis=20_000, bank_millis=20_000)
    with other_work():
        record = docker_hall.play(program, programs.GOOD, clock=clock)
    first, other = record.games[0].steps[0]
    assert first is not None
    assert other is not None
    assert first.fault is (None if greets else Fault.ABSENT)
    assert other.fault is None
