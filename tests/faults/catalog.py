"""All scenarios, with the number of faults in a full run and in CI."""

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
    """A fault, and how to inject it."""

    name: str  # on the command line and in the table
    what: str  # description
    play: Play  # injects the fault a number of times, and adds to a tally
    times: int  # number of faults in a full run
    quick: int = 0  # number of faults in CI; 0 for full runs only
    needs: str = ""  # requirement: `docker`, `postgresql`, `root`, `compiler`, or empty


def _killed(
    name: str, what: str, play: Kill, *, times: tuple[int, int], quick: tuple[int, int] = (0, 0)
) -> tuple[Scenario, Scenario]:
    """Return a scenario that kills processes, with bots as plain processes and in containers."""
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
        "kill -9 of the coordinator together with its referees and bots, at a random moment",
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
        "the coordinator dies at each failpoint in turn",
        killing.die_at_failpoints,
        times=(3 * len(FAILPOINTS), len(FAILPOINTS)),
        quick=(1, 0),
    ),
    Scenario(
        name="engine-stopped",
        what="the Docker engine stops in the middle of matches, alternately by SIGTERM and by kill -9",
        play=engine.stop_the_engine,
        times=6,
        needs="docker",
    ),
    Scenario(
        name="disk-full",
        what="the data directory's disk is full until a result can't be stored",
        play=surroundings.fill_the_disk,
        times=5,
        needs="root",
    ),
    Scenario(
        name="database-locked",
        what="another program keeps SQLite locked for 30 s",
        play=lambda tally, dice, times: surroundings.lock_the_database(tally, dice, times, 30),
        times=3,
    ),
    Scenario(
        name="database-locked-5",
        what="another program keeps SQLite locked for 5 s",
        play=lambda tally, dice, times: surroundings.lock_the_database(tally, dice, times, 5),
        times=1,
    ),
    Scenario(
        name="postgresql-restarted",
        what="PostgreSQL stops in immediate mode in the middle of matches, and starts again",
        play=surroundings.restart_postgresql,
        times=10,
        quick=1,
        needs="postgresql",
    ),
    Scenario(
        name="host-paused",
        what="the coordinator, its referees and bots pause (SIGSTOP) for longer than a bot may think",
        play=surroundings.pause_the_host,
        times=10,
    ),
    Scenario(
        name="host-busy",
        what="stress-ng demands ten times the cores while bots are playing with the default clock",
        play=busy.keep_the_host_busy,
        times=20,
        needs="docker",
    ),
    Scenario(
        name="clock-set",
        what="the wall clock of coordinator, referees and bots jumps an hour ahead and back",
        play=surroundings.set_the_clock,
        times=16,
        needs="compiler",
    ),
    Scenario(
        name="host-killed",
        what="one of two arenas on one PostgreSQL is killed with all its processes",
        play=partial(hosts.lose_a_host, for_good=True),
        times=4,
        needs="postgresql",
    ),
    Scenario(
        name="host-stopped",
        what="one of two arenas on one PostgreSQL hangs (SIGSTOP) until the other has played its matches",
        play=partial(hosts.lose_a_host, for_good=False),
        times=4,
        needs="postgresql",
    ),
    Scenario(
        name="cluster",
        what="kill -9 of a random one of three workers, and occasionally of the scheduler",
        play=hosts.kill_workers,
        times=40,
    ),
    Scenario(
        name="untrue-records",
        what="a worker returns an altered score, an illegal move, another match's id or a stale attempt",
        play=lies.lie,
        times=3,
    ),
)
