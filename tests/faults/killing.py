"""Processes that are killed: the coordinator, all of it, a match's referee; anywhere, at every failpoint."""

import itertools
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from arena.platform.environment import FAILPOINTS
from arena.protocol.match import RuntimeName
from tests.faults.installation import Installation
from tests.faults.processes import below, wait_until
from tests.faults.tally import Tally

SAME_HOST_SECONDS: Final = 5.0
"""From the start of the process to its first claim.

In containers it is told and held to nothing: the time in which the engine waits can't be taken out of it.
"""

_STARTING_SECONDS: Final = 1.5
_PLAYING_SECONDS: Final = 3.0
_FAILPOINT_SECONDS: Final = 180.0
_MOST_VOIDS: Final = 2
"""A third would put the match aside, as it should."""


@contextmanager
def installed(sandbox: RuntimeName, **how: object) -> Iterator[Installation]:
    """Give an arena, and remove it in the end."""
    arena = Installation(sandbox, **how)  # type: ignore[arg-type]  # as it says itself
    try:
        yield arena
    finally:
        arena.remove()


def kill_anywhere(
    tally: Tally, dice: random.Random, times: int, sandbox: RuntimeName, *, tree: bool, **how: object
) -> None:
    """Kill the coordinator, or all of it, at random moments: one in four while it starts."""
    tally.most = SAME_HOST_SECONDS if sandbox is RuntimeName.PROCESS else None
    with installed(sandbox, **how) as arena:
        for _ in range(times):
            _keep_busy(arena, dice)
            if dice.random() < 1 / 4:
                arena.start()
                time.sleep(dice.uniform(0, _STARTING_SECONDS))
            else:
                tally.again.append(arena.start_and_claim())
                time.sleep(dice.uniform(0, _PLAYING_SECONDS))
            arena.kill(tree=tree)
            tally.times += 1
        _keep_busy(arena, dice)
        tally.again.append(arena.start_and_claim())
        arena.play_out()
        tally.close(arena)


def kill_referees(tally: Tally, dice: random.Random, times: int, sandbox: RuntimeName, **how: object) -> None:
    """Kill the process that plays a match, at random moments, while the coordinator goes on."""
    tally.most = SAME_HOST_SECONDS if sandbox is RuntimeName.PROCESS else None
    with installed(sandbox, **how) as arena:
        _keep_busy(arena, dice)
        arena.start_and_claim()
        while tally.times < times:
            _keep_busy(arena, dice)
            time.sleep(dice.uniform(0, 1.0))
            referees = [process for process in below(arena.pid) if process.is_referee]
            if not referees or arena.ledger.most_voids() >= _MOST_VOIDS:
                continue
            before = arena.ledger.claims()
            begun = time.monotonic()
            dice.choice(referees).kill()
            tally.again.append(arena.wait_for_claim(before, begun))
            tally.times += 1
        arena.play_out()
        tally.close(arena)


def die_at_failpoints(
    tally: Tally, dice: random.Random, times: int, sandbox: RuntimeName, **how: object
) -> None:
    """Let the coordinator die at failpoints: at each the first time that it comes there, then the second."""
    tally.most = SAME_HOST_SECONDS if sandbox is RuntimeName.PROCESS else None
    with installed(sandbox, **how) as arena:
        for name, count in _failpoints(dice, times):
            _keep_busy(arena, dice)
            if name == "releasing":
                arena.start_and_claim(name)
                arena.drain()
            else:
                arena.start(f"{name}:{count}")
                wait_until(lambda: arena.ended, _FAILPOINT_SECONDS, f"{name} was not reached {count} times")
            if arena.exit_code != -signal.SIGKILL:
                tally.wrong.append(f"{name}:{count}: the process ended with {arena.exit_code}")
            tally.times += 1
            _keep_busy(arena, dice)
            tally.again.append(arena.start_and_claim())
            arena.kill(tree=dice.random() < 1 / 2)
        arena.play_out()
        tally.close(arena)


def _failpoints(dice: random.Random, times: int) -> Iterator[tuple[str, int]]:
    """Yield this many, each before any comes again, and how often it is to be reached."""
    names = list(FAILPOINTS)
    rounds = ((name, count) for count in itertools.count(1) for name in dice.sample(names, len(names)))
    return itertools.islice(rounds, times)


def _keep_busy(arena: Installation, dice: random.Random) -> None:
    """See that enough waits for the process to claim whatever has just been played."""
    while arena.ledger.open() < 2 * 3:
        arena.queue(dice, players=dice.choice((2, 2, 3)), deals=dice.choice((2, 4, 8)))
