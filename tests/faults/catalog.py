"""Every scenario: what is done to an arena, how often in a whole run, and how often in CI."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from arena.platform.environment import FAILPOINTS
from arena.protocol.match import RuntimeName
from tests.faults import busy, engine, hosts, killing, lies, surroundings
from tests.faults.tally import Tally

Play = Callable[[Tally, random.Random, int], None]
Kill = Callable[..., None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Something that befalls an arena."""

    name: str  # on the command line and in the table
    what: str  # happens, in words
    play: Play  # brings it about this many times, and adds to a tally
    times: int  # in a whole run
    quick: int = 0  # in CI; 0 leaves it to whole runs
    needs: str = ""  # what has to be there: `docker`, `postgresql`, `root`, `compiler`, or nothing else


def _killed(
    name: str, what: str, play: Kill, *, times: tuple[int, int], quick: tuple[int, int] = (0, 0)
) -> tuple[Scenario, Scenario]:
    """Return a scenario of processes that are killed: as plain processes, and in containers."""
    here = Scenario(
        name=name,
        what=what,
        play=partial(play, sandbox=RuntimeName.PROCESS),
        times=times[0],
        quick=quick[0],
    )
    contained = replace(
        here,
        name=f"{name}-docker",
        play=partial(play, sandbox=RuntimeName.DOCKER),
        times=times[1],
        quick=quick[1],
        needs="docker",
    )
    return here, contained


SCENARIOS: Final = (
    *_killed(
        "coordinator-killed",
        "kill -9 of the coordinator at a random moment",
        partial(killing.kill_anywhere, tree=False),
        times=(80, 8),
    ),
    *_killed(
        "tree-killed",
        "kill -9 of the coordinator, its referees and bots at once, at a random moment",
        partial(killing.kill_anywhere, tree=True),
        times=(80, 8),
        quick=(0, 1),
    ),
    *_killed(
        "referee-killed",
        "kill -9 of a match's referee at a random moment",
        killing.kill_referees,
        times=(40, 4),
    ),
    *_killed(
        "failpoints",
        "the coordinator dies at a failpoint, at each in turn",
        killing.die_at_failpoints,
        times=(3 * len(FAILPOINTS), len(FAILPOINTS)),
        quick=(1, 0),
    ),
    Scenario(
        name="engine-stopped",
        what="the Docker engine is stopped in the middle of matches, politely and with kill -9 in turn",
        play=engine.stop_the_engine,
        times=6,
        needs="docker",
    ),
    Scenario(
        name="disk-full",
        what="no byte is left on the disk of the data directory until a result could not be stored",
        play=surroundings.fill_the_disk,
        times=5,
        needs="root",
    ),
    Scenario(
        name="database-locked",
        what="another program holds SQLite's lock for 30 s",
        play=lambda tally, dice, times: surroundings.lock_the_database(tally, dice, times, 30),
        times=3,
    ),
    Scenario(
        name="database-locked-5",
        what="another program holds SQLite's lock for 5 s",
        play=lambda tally, dice, times: surroundings.lock_the_database(tally, dice, times, 5),
        times=1,
    ),
    Scenario(
        name="postgresql-restarted",
        what="PostgreSQL is stopped in immediate mode in the middle of matches, and started again",
        play=surroundings.restart_postgresql,
        times=10,
        quick=1,
        needs="postgresql",
    ),
    Scenario(
        name="host-paused",
        what="the coordinator, its referees and bots stand still (SIGSTOP) for longer than any bot may think",
        play=surroundings.pause_the_host,
        times=10,
    ),
    Scenario(
        name="host-busy",
        what="stress-ng wants both cores ten times over while bots play by the clock of every ladder",
        play=busy.keep_the_host_busy,
        times=50,
        needs="docker",
    ),
    Scenario(
        name="clock-set",
        what="the wall clock of coordinator, referees and bots is set an hour on and back",
        play=surroundings.set_the_clock,
        times=16,
        needs="compiler",
    ),
    Scenario(
        name="host-killed",
        what="one of two arenas at one PostgreSQL is killed with all its processes",
        play=partial(hosts.lose_a_host, for_good=True),
        times=4,
        needs="postgresql",
    ),
    Scenario(
        name="host-stopped",
        what="one of two arenas at one PostgreSQL hangs (SIGSTOP) until its matches were played elsewhere",
        play=partial(hosts.lose_a_host, for_good=False),
        times=4,
        needs="postgresql",
    ),
    Scenario(
        name="cluster",
        what="kill -9 of a worker of three, drawn at random, and now and then of the scheduler",
        play=hosts.kill_workers,
        times=40,
    ),
    Scenario(
        name="untrue-records",
        what="a worker hands in an altered score, an illegal move, another match's id, a stale attempt",
        play=lies.lie,
        times=3,
    ),
)
