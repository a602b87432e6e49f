"""Clocks on a busy host: a bot isn't charged for the time during which the host kept it waiting."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace

import pytest

from arena.protocol.faults import Fault
from arena.protocol.match import Clock, Decision, MatchRecord, decode, encode
from arena.scheduler.check import check_record
from tests.locks import host_lock
from tests.play.launcher import programs
from tests.play.launcher.conftest import Hall

CLOCK = Clock(start_millis=10_000, move_millis=1_000, bank_millis=300)
"""A bot that takes 0.5 s per decision has no fault."""

LARGER_BANK = Clock(start_millis=10_000, move_millis=1_000, bank_millis=1_200)
"""A bot that takes 1.8 s per decision first times out at its second, with 0.4 s to spare on either side."""

SMALLER_BANK = Clock(start_millis=10_000, move_millis=1_000, bank_millis=850)
"""A bot that takes 1.5 s per decision first times out at its second."""

GREETING_MILLIS = 6_000

_OTHERS = 2 * (os.cpu_count() or 1)


@contextmanager
def other_work() -> Iterator[Callable[[], None]]:
    """Keep all processors busy, at normal priority. Yield a function that stops this early."""
    with host_lock("processors"):
        yield from _spinning()


def _spinning() -> Iterator[Callable[[], None]]:
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(_OTHERS)]

    def end() -> None:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()

    try:
        yield end
    finally:
        end()


def play(hall: Hall, program: str, clock: Clock, *, busy: bool) -> tuple[list[Decision], list[Decision]]:
    """Play a game of this program against a good bot; return each bot's decisions."""
    spec = hall.spec(program, programs.GOOD, clock=clock)
    with other_work() if busy else nullcontext():
        record = decode(hall.launcher.play(encode(spec), (0, 1)), MatchRecord)
    check_record(spec, record)
    steps = record.games[0].steps
    one, other = ([step[seat] for step in steps] for seat in (0, 1))
    return [each for each in one if each], [each for each in other if each]


def faulted(decisions: list[Decision]) -> list[int]:
    """Return the indexes of the decisions that timed out. Check that there were no other faults."""
    faults = {number: each.fault for number, each in enumerate(decisions) if each.fault}
    assert set(faults.values()) <= {Fault.TIMEOUT}
    return list(faults)


def in_the_first_turns(program: str, turns: int) -> str:
    """Return a program that works only in the first ``turns`` turns of the game."""
    head, _, body = program.partition("def choose(view):\n")
    assert body
    quick = f"    if (view.round, view.turn) > (1, {turns}):\n        return view.legal_moves()[-1]\n"
    return f"{head}def choose(view):\n{quick}{body}"


def greets_after(seconds: float, program: str) -> str:
    """Return a program that works for this long before it greets. Its imports take another 0.5 s."""
    return f"import time\nwhile time.process_time() < {seconds}:\n    pass\n{program}"


def told(program: str, seconds: float) -> str:
    """Return a program that works for this long at each decision."""
    return program.replace("SECONDS", str(seconds))


@pytest.mark.docker
def test_a_busy_host_excuses_only_the_bots_it_delays(docker_hall: Hall) -> None:
    """A bot whose own work takes too long times out; one that is only delayed by the host doesn't.

    The other work ends with the first round, since it also slows down the tests that are running in parallel.
    """
    late = in_the_first_turns(told(programs.WORKS, 0.6), 2)
    held_up = greets_after(0.4, in_the_first_turns(told(programs.WORKS, 0.3), 2))
    spec = docker_hall.spec(late, held_up, clock=replace(SMALLER_BANK, start_millis=GREETING_MILLIS))
    with other_work() as end:
        played = docker_hall.launcher.play(encode(spec), (0, 1), lambda _: end())
    record = decode(played, MatchRecord)
    check_record(spec, record)
    decisions = [[each for step in record.games[0].steps if (each := step[seat])] for seat in (0, 1)]
    assert [faulted(own) for own in decisions] == [[1], []]


@pytest.mark.soak
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
    """The timeout comes at the same decision whether the host is busy or not."""
    own, good = play(docker_hall, program, clock, busy=busy)
    assert faulted(own) == faults
    assert faulted(good) == []


@pytest.mark.soak
@pytest.mark.parametrize(
    ("seconds", "greets"),
    [pytest.param(0.4, True, id="2.5 s at its quota"), pytest.param(3.0, False, id="8.5 s at its quota")],
)
@pytest.mark.docker
def test_the_time_to_greet_is_what_a_bot_needs_itself(
    docker_hall: Hall, seconds: float, *, greets: bool
) -> None:
    """Delays that a busy host causes don't count towards the time to greet."""
    program = greets_after(seconds, programs.GOOD)
    clock = Clock(start_millis=GREETING_MILLIS, move_millis=20_000, bank_millis=20_000)
    with other_work():
        record = docker_hall.play(program, programs.GOOD, clock=clock)
    first, other = record.games[0].steps[0]
    assert first is not None
    assert other is not None
    assert first.fault is (None if greets else Fault.ABSENT)
    assert other.fault is None
