"""Measure whether busy neighbours make honest bots exceed their clock: ``python -m benchmarks.neighbours``.

Plays games between two honest bots under the ladder's clock and limits: first without neighbours, then with
bots that use all available processor time in up to five other slots of the host. Needs a Docker engine. Exits
with 1 if an honest bot exceeds its clock or has any other fault.
"""

import argparse
import itertools
import statistics
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.protocol.match import Clock, Decision, MatchRecord, MatchSpec, RuntimeName
from arena.rules import Rules
from benchmarks.hall import LIMITS, Hall, open_hall

_BOTS: Final = Path(__file__).parent.parent / "bots"
_NOISY: Final = Path(__file__).parent / "noisy"
_DEALS: Final = 10
_HONEST: Final = 2


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of the honest bots."""

    games: int  # number of games played
    millis: tuple[float, ...]  # each decision's time, measured by the referee
    faults: tuple[str, ...]  # a description of each fault

    def __str__(self) -> str:
        late = statistics.quantiles(self.millis, n=1000)[-1]
        return (
            f"{self.games} games, {len(self.faults)} faults, {len(self.millis)} decisions: "
            f"median {statistics.median(self.millis):.2f} ms, 99.9% within {late:.1f} ms, "
            f"longest {max(self.millis):.1f} ms"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.neighbours",
        description="Measure whether busy neighbours make honest bots exceed their clock.",
    )
    parser.add_argument(
        "--games",
        type=int,
        default=1000,
        help="games with neighbours; a tenth as many are played without them (default: %(default)s)",
    )
    games: int = parser.parse_args().games
    with open_hall(RuntimeName.DOCKER) as hall:
        honest = (hall.image(_BOTS / "greedy"), hall.image(_BOTS / "expected"))
        noisy = hall.image(_NOISY)
        baseline = _play_honest(hall, honest, games // 10)
        with _noise(hall, noisy) as records:
            beside = _play_honest(hall, honest, games)
    print(f"{hall.slots} slots of {LIMITS.cpus:g} cores; {len(records)} matches of busy neighbours")
    print(f"without neighbours: {baseline}")
    print(f"with neighbours:    {beside}")
    print(f"ratio of medians:   {statistics.median(beside.millis) / statistics.median(baseline.millis):.2f}x")
    for fault in (*baseline.faults, *beside.faults):
        print(fault)
    sys.exit(bool(baseline.faults or beside.faults))


def _play_honest(hall: Hall, seats: tuple[str, ...], games: int) -> Outcome:
    decisions: list[Decision] = []
    played = 0
    for number in range(-(-games // _DEALS)):
        record = hall.play(_match(f"honest-{number}-{games}", seats, number))
        played += len(record.games)
        decisions += [one for game in record.games for step in game.steps for one in step if one is not None]
    return Outcome(
        played,
        tuple(one.millis for one in decisions if one.millis is not None),
        tuple(f"{one.fault}: {one.trouble}" for one in decisions if one.fault is not None),
    )


@contextmanager
def _noise(hall: Hall, source: str) -> Iterator[list[MatchRecord]]:
    """Play matches of busy bots in up to five slots next to those of the honest bots."""
    over = threading.Event()
    records: list[MatchRecord] = []
    seats = (source,) * min(5, hall.slots - _HONEST)

    def play() -> None:
        for number in itertools.count():
            if over.is_set():
                return
            records.append(hall.play(_match(f"noise-{number}", seats, number), first_slot=_HONEST))

    thread = threading.Thread(target=play)
    thread.start()
    try:
        yield records
    finally:
        over.set()
        thread.join()


def _match(name: str, seats: tuple[str, ...], number: int) -> MatchSpec:
    return MatchSpec(
        match=name,
        attempt=1,
        rules=Rules(players=len(seats)),
        seeds=tuple(f"{number:016x}{deal:016x}" for deal in range(_DEALS)),
        seats=seats,
        clock=Clock(),
        limits=LIMITS,
        runtime=RuntimeName.DOCKER,
    )


if __name__ == "__main__":
    main()
