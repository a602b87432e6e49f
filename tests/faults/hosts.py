"""Lost hosts: one of two arenas on one PostgreSQL, and workers of a cluster."""

import random
import signal
import time
from itertools import cycle
from typing import Final

from structlog.testing import capture_logs

from arena.db.leases import LEASE_SECONDS
from arena.protocol.match import RuntimeName
from tests.faults.installation import Again, Installation
from tests.faults.killing import installed
from tests.faults.processes import wait_until
from tests.faults.surroundings import server
from tests.faults.tally import Tally
from tests.scheduler.cluster.runs import cluster_run

OTHER_HOST_SECONDS: Final = 35.0
"""Maximum time from the loss of a host until another one has claimed all its matches."""

_BUSY_SECONDS: Final = 180.0
_END_SECONDS: Final = 300.0
_MATCHES_PER_KILL: Final = 12.5


def lose_a_host(tally: Tally, dice: random.Random, times: int, *, for_good: bool) -> None:
    """Remove one of two arenas in the middle of its matches.

    With ``for_good`` it is killed with all its processes, and started again later. Otherwise its coordinator
    is stopped until the other arena has played its matches.
    """
    tally.max_seconds = OTHER_HOST_SECONDS
    with server() as cluster:
        url = cluster.address("postgres", "postgresql+psycopg")
        with installed(RuntimeName.PROCESS, url=url) as one, installed(RuntimeName.PROCESS, url=url) as two:
            for turn, arenas in zip(range(1, times + 1), cycle(((one, two), (two, one))), strict=False):
                _lose(tally, dice, arenas, for_good=for_good)
                tally.times = turn
            wait_until(lambda: not one.ledger.open(), _END_SECONDS, "matches are still open")
            for arena in (one, two):
                arena.play_out()
            tally.close(one, two)


def _lose(
    tally: Tally, dice: random.Random, arenas: tuple[Installation, Installation], *, for_good: bool
) -> None:
    lost, other = arenas
    for arena in arenas:
        if arena.ended:
            arena.start()
    wait_until(lambda: lost.is_ready and other.is_ready, _BUSY_SECONDS, "an arena has not started")
    lost.queue(dice, 6, deals=24)
    wait_until(
        lambda: bool(lost.ledger.held(lost.name)) and bool(lost.ledger.held(other.name)),
        _BUSY_SECONDS,
        "an arena has not claimed a match",
    )
    time.sleep(dice.uniform(0, 1))
    begun = time.monotonic()
    if for_good:
        lost.kill(tree=True)
    else:
        lost.signal(signal.SIGSTOP)
    had = lost.ledger.held(lost.name)
    before = other.ledger.claims(had)
    if not had:
        tally.wrong.append("the lost arena had no match")
        return
    # The last claim of these matches is measured.
    tally.again.append(other.wait_for_claim(before + len(had) - 1, begun, had))
    if not for_good:
        wait_until(lambda: not had & lost.ledger.held(), 4 * LEASE_SECONDS, "its matches are still running")
        lost.signal(signal.SIGCONT)


def kill_workers(tally: Tally, dice: random.Random, times: int) -> None:
    """Kill workers of a cluster of three, and occasionally its scheduler, during many matches."""
    matches, scheduler_kills = int(_MATCHES_PER_KILL * times), max(1, times // 20)
    with capture_logs():  # the coordinator in this process would print thousands of lines
        figures = cluster_run(matches, times, scheduler_kills, seed=dice.randrange(2**32))
    tally.times += figures.kills + figures.scheduler_kills
    tally.matches += figures.matches
    tally.games += figures.played
    tally.lost += figures.missing
    tally.doubled += figures.doubled
    tally.blamed += figures.faults
    tally.aside += figures.quarantined
    tally.differing += figures.differing
    # Reported without a limit: the matches wait for slots, which killed workers don't have.
    tally.again += [Again(seconds) for seconds in figures.again]
