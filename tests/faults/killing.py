"""Kills the coordinator, the whole arena or a referee, at random moments and at every failpoint."""

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
"""Maximum time from the start of the process to its first claim.

With containers there is no limit, because the time in which the engine waits can't be subtracted.
"""

_STARTING_SECONDS: Final = 1.5
_PLAYING_SECONDS: Final = 3.0
_FAILPOINT_SECONDS: Final = 180.0
_MOST_VOIDS: Final = 2
"""A third void would rightly quarantine the match."""


@contextmanager
def installed(sandbox: RuntimeName, **how: object) -> Iterator[Installation]:
    """Create an arena, and remove it at the end."""
    arena = Installation(sandbox, **how)  # type: ignore[arg-type]  # its keyword arguments
    try:
        yield arena
    finally:
        arena.remove()


def kill_anywhere(
    tally: Tally, dice: random.Random, times: int, sandbox: RuntimeName, *, tree: bool, **how: object
) -> None:
    """Kill the coordinator, or with ``tree`` the whole arena, at random moments, even during its start."""
    tally.max_seconds = SAME_HOST_SECONDS if sandbox is RuntimeName.PROCESS else None
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
    """Kill referees at random moments, while the coordinator continues."""
    tally.max_seconds = SAME_HOST_SECONDS if sandbox is RuntimeName.PROCESS else None
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
    """Kill the coordinator at each failpoint, when it gets there the first time, the second, and so on."""
    tally.max_seconds = SAME_HOST_SECONDS if sandbox is RuntimeName.PROCESS else None
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
    """Yield failpoints, each once before any repeats, with the number of times to reach it."""
    names = list(FAILPOINTS)
    rounds = ((name, count) for count in itertools.count(1) for name in dice.sample(names, len(names)))
    return itertools.islice(rounds, times)


def _keep_busy(arena: Installation, dice: random.Random) -> None:
    """Queue matches until there are enough for the process to claim."""
    while arena.ledger.open() < 2 * 3:
        arena.queue(dice, players=dice.choice((2, 2, 3)), deals=dice.choice((2, 4, 8)))
