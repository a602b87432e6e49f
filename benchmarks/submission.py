"""Measure the time from `arena submit` to the first rated game: ``python -m benchmarks.submission``.

Starts an arena and its site in a new folder. Submits bots with the authors' command, as a source file and as
a folder that becomes an image, and prints when each stage was reached. Needs a Docker engine and a machine
that is otherwise idle. The sample bots play, as in any arena. Exits with 1 if the goal is missed.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from arena.accounts.accounts import open_accounts
from arena.db.store import Store
from arena.platform.settings import RegistrationMode
from arena.protocol.sandbox_controls import CONTROL_NAMES
from arena.protocol.states import Role, Scope
from benchmarks.processes import run_arena, run_site, wait_until

GOAL_SECONDS: Final = 120.0
_BOT: Final = Path(__file__).parents[1] / "bots" / "greedy"
_STAGES: Final = ("received", "inspected", "qualifying", "ended")


@dataclass(frozen=True, slots=True)
class Journey:
    """The times of one submission, in seconds from the start of the command."""

    what: str  # the kind of submission
    stages: dict[str, float]  # when each stage was reached, by name
    rated: float  # when the first rated game was in the store

    def __str__(self) -> str:
        stages = ", ".join(f"{name} {seconds:5.1f}" for name, seconds in self.stages.items())
        return f"{self.what:<12} {stages}, rated {self.rated:5.1f} s"


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.submission",
        description="Measure the time from `arena submit` to the first rated game.",
    )
    parser.add_argument(
        "--times", type=int, default=3, help="submissions of each kind (default: %(default)s)"
    )
    times: int = parser.parse_args().times
    settings = {
        # This benchmark doesn't need the host's controls.
        "ARENA_ACCEPT_MISSING": ",".join(CONTROL_NAMES),
        "ARENA_BOTS_PER_AUTHOR": "1000",
        "ARENA_SUBMISSIONS_A_DAY": "1000",
    }
    with run_arena(**settings) as running, run_site(running.environment) as (_, address):
        store = running.store
        environment = running.environment | {"ARENA_SITE": address, "ARENA_TOKEN": _token(store)}
        journeys = [
            _submit(store, environment, name, target)
            for number in range(1, times + 1)
            for name, target in ((f"file-{number}", _BOT / "bot.py"), (f"folder-{number}", _BOT))
        ]
    worst = max(journey.rated for journey in journeys)
    print(f"median {statistics.median(journey.rated for journey in journeys):.1f} s, longest {worst:.1f} s")
    print(f"goal {GOAL_SECONDS:.0f} s: {'met' if worst < GOAL_SECONDS else 'MISSED'}")
    return 0 if worst < GOAL_SECONDS else 1


def _token(store: Store) -> str:
    accounts = open_accounts(store, RegistrationMode.CLOSED)
    account = accounts.operators.create_user("benchmark", "author", os.urandom(16).hex(), Role.USER)
    secret, _ = accounts.tokens.create(account, name="b", scopes={Scope.READ, Scope.SUBMIT}, days=1)
    return secret


def _submit(store: Store, environment: dict[str, str], name: str, target: Path) -> Journey:
    """Submit a bot as its author would, wait for its first rated game, and print how long each stage took."""
    begun = time.time()  # the clock that the stages use
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "arena", "submit", str(target), "--name", name, "--json"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{name} was rejected: exit code {done.returncode}, {done.stdout}")
    submission: dict[str, Any] = json.loads(done.stdout)
    wait_until(lambda: _has_rated_game(store, name), f"a rated game of {name}")
    rated = time.time() - begun
    stages = {stage: datetime.fromisoformat(submission[stage]).timestamp() - begun for stage in _STAGES}
    journey = Journey(target.name, stages, rated)
    print(journey, flush=True)
    return journey


def _has_rated_game(store: Store, name: str) -> bool:
    return any(line.bot == name and line.entry.games for line in store.ratings.standings())


if __name__ == "__main__":
    sys.exit(main())
