"""Decisions per second of ``arena.env.Batch`` for a learner, on one core.

    python -m benchmarks.batch

Legal actions, including chopsticks, are drawn at random. *Step* includes shuffling, dealing and playing.
*Observe* and *legal actions* are what a learner requests in each turn.
"""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from rich.console import Console
from rich.table import Table

from arena.env import Batch, shuffled
from arena.rules import Rules

_GAMES = 2048
_TIMES = 5


def main() -> None:
    """Play, and print nanoseconds of CPU per decision, the minimum of several runs."""
    table = Table(title=f"{_GAMES} parallel games: nanoseconds of CPU per decision")
    for column in ("players", "step", "observe", "legal actions", "million steps/s", "million decisions/s"):
        table.add_column(column, justify="right")
    for players in range(2, 6):
        runs = [_play(Rules(players=players)) for _ in range(_TIMES)]
        step, observe, legal = (min(run[what] for run in runs) for what in ("step", "observe", "legal"))
        whole = step + observe + legal
        table.add_row(
            str(players),
            *(f"{1e9 * seconds:.0f}" for seconds in (step, observe, legal)),
            f"{1e-6 / step:.1f}",
            f"{1e-6 / whole:.1f}",
        )
    Console().print(table)


def _play(rules: Rules) -> dict[str, float]:
    """Play a batch of games; return the seconds of CPU per decision, by activity."""
    rng = np.random.default_rng(1)
    spent: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def timed(what: str) -> Iterator[None]:
        begun = time.process_time()
        yield
        spent[what] += time.process_time() - begun

    with timed("step"):
        batch = Batch(rules, shuffled(rules, _GAMES, rng))
    decisions = 0
    while not batch.over:
        with timed("observe"):
            batch.observe()
        with timed("legal"):
            legal = batch.legal_actions()
        actions = (legal * rng.random(legal.shape, dtype=np.float32)).argmax(axis=2)
        decisions += _GAMES * len(batch.seats_to_move)
        with timed("step"):
            batch.step(actions)
    return {what: seconds / decisions for what, seconds in spent.items()}


if __name__ == "__main__":
    main()
