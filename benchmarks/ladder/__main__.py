"""Measure the arena's matchmaking and ratings on simulated ladders.

    python -m benchmarks.ladder                              # print tables of all populations
    python -m benchmarks.ladder --json before.json           # save the figures
    python -m benchmarks.ladder --against before.json        # compare with the figures of another commit

Each figure is a mean over runs (populations and seeds) with its standard error. The same seed gives the same
games as long as matchmaking, deals and ratings don't change.
"""

import argparse
import json
import math
import random
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from rich import box
from rich.console import Console
from rich.table import Table

from arena.ladder.matchmaking import DEALS
from benchmarks.ladder.measures import Estimate, coverage, estimate, excess_loss, kendall, odd_results
from benchmarks.ladder.populations import Population, even, populations
from benchmarks.ladder.simulation import SimulatedLadder

_NEWCOMER_AMONG: Final = 100
_NEWCOMER_AFTER: Final = 300
_NEWCOMER_MATCHES: Final = 60

_ALL: Final = "all"

Key = tuple[str, int, str]
"""Population (or all), number of matches, and the figure's name."""


def main() -> None:
    """Measure and print."""
    wanted = _arguments()
    begun = time.process_time()
    values: dict[Key, list[float]] = defaultdict(list)
    names = [each.name for each in populations(wanted.bots, 0)]
    for seed in range(1, wanted.seeds + 1):
        for population in populations(wanted.bots, seed):
            if wanted.only in {None, population.name}:
                for matches, name, value in _measure(population, wanted.matches, wanted.deals, seed):
                    values[_ALL, matches, name].append(value)
                    values[population.name, matches, name].append(value)
        values[_ALL, _NEWCOMER_MATCHES, "games of a newcomer among 100"].append(_newcomer(wanted.deals, seed))
    figures = {key: estimate(each) for key, each in values.items()}
    before = _read(wanted.against) if wanted.against else {}
    if wanted.json:
        wanted.json.write_text(_as_json(figures))
    _print([_ALL, *names], figures, before)
    print(f"commit {_commit()}, {time.process_time() - begun:.0f} s of processor time")


def _arguments() -> Any:  # noqa: ANN401 - an argparse namespace
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bots", type=int, default=50, help="bots per ladder (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=2, help="runs per population (default: %(default)s)")
    parser.add_argument(
        "--matches",
        type=int,
        nargs="+",
        default=[150, 400, 1000],
        help="numbers of matches after which to measure (default: 150 400 1000)",
    )
    parser.add_argument("--deals", type=int, default=DEALS, help="deals per match (default: %(default)s)")
    parser.add_argument("--only", metavar="NAME", help="simulate only this population")
    parser.add_argument("--json", type=Path, metavar="FILE", help="file to write the figures to")
    parser.add_argument(
        "--against", type=Path, metavar="FILE", help="file of earlier figures to compare with"
    )
    return parser.parse_args()


def _measure(
    population: Population, matches: Sequence[int], usual_deals: int, seed: int
) -> Iterator[tuple[int, str, float]]:
    """Simulate a ladder; yield the number of matches, name and value of each figure."""
    dice = random.Random(f"season {seed} {population.name}")  # noqa: S311 - must be reproducible
    ladder = SimulatedLadder(range(len(population)), population.play, usual_deals, dice)
    played = 0
    for checkpoint in sorted(matches):
        ladder.run(checkpoint - played)
        played = checkpoint
        ratings, truth = ladder.ratings, population.values
        held = coverage(ladder.skills, truth)
        seats = sum(len(game.bots) for game in ladder.games)
        yield checkpoint, "games a bot", seats / len(population)
        scores = {bot: rating.score for bot, rating in ratings.items()}
        yield checkpoint, "τ of the board", kendall(scores, truth)
        yield (
            checkpoint,
            "τ of the means",
            kendall({bot: rating.mean for bot, rating in ratings.items()}, truth),
        )
        yield checkpoint, "coverage", held.share
        yield checkpoint, "width of an interval", held.width
        yield checkpoint, "excess log-loss, %", 100 * excess_loss(ratings, population)
        yield checkpoint, "pairs reported as odd", odd_results(ladder.games, ratings)
        yield (
            checkpoint,
            "longest wait, in mean waits",
            max(ladder.waits) * len(ladder.waits) / sum(ladder.waits),
        )


def _newcomer(usual_deals: int, seed: int) -> float:
    """Return how many games a newcomer has ``_NEWCOMER_MATCHES`` matches after it entered a ladder."""
    dice = random.Random(f"newcomer {seed}")  # noqa: S311 - must be reproducible
    newcomer = _NEWCOMER_AMONG - 1
    ladder = SimulatedLadder(range(newcomer), even(_NEWCOMER_AMONG, dice).play, usual_deals, dice)
    ladder.run(_NEWCOMER_AFTER)
    ladder.enter(newcomer)
    ladder.run(_NEWCOMER_MATCHES)
    return ladder.games_of(newcomer)


def _print(populations: Sequence[str], figures: dict[Key, Estimate], before: dict[Key, Estimate]) -> None:
    console = Console(highlight=False)
    console.width = max(console.width, 110)
    for population in populations:
        rows = {key: value for key, value in figures.items() if key[0] == population}
        if not rows:
            continue
        matches = sorted({key[1] for key in rows})
        table = Table(title=population, box=box.SIMPLE_HEAD, title_justify="left")
        table.add_column("after this number of matches")
        for each in matches:
            table.add_column(str(each), justify="right")
        for name in dict.fromkeys(key[2] for key in rows):
            cells = [_cell((population, each, name), figures, before) for each in matches]
            table.add_row(name, *cells)
        console.print(table)


def _cell(key: Key, figures: dict[Key, Estimate], before: dict[Key, Estimate]) -> str:
    if key not in figures:
        return ""
    text = _figure(figures[key])
    return f"{text} (was {_figure(before[key])})" if key in before else text


def _figure(value: Estimate) -> str:
    digits = 3 if abs(value.mean) < 1 else 1
    error = "" if math.isnan(value.error) else f" ± {value.error:.{digits}f}"
    return f"{value.mean:.{digits}f}{error}"


def _as_json(figures: dict[Key, Estimate]) -> str:
    rows = [
        {
            "population": population,
            "matches": matches,
            "figure": name,
            "mean": value.mean,
            "error": None if math.isnan(value.error) else value.error,
        }
        for (population, matches, name), value in figures.items()
    ]
    return json.dumps({"commit": _commit(), "figures": rows}, indent=1, ensure_ascii=False) + "\n"


def _read(file: Path) -> dict[Key, Estimate]:
    return {
        (row["population"], row["matches"], row["figure"]): Estimate(
            row["mean"], math.nan if row["error"] is None else row["error"]
        )
        for row in json.loads(file.read_text())["figures"]
    }


def _commit() -> str:
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    return subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip() or "unknown"  # noqa: S603 - fixed words


if __name__ == "__main__":
    main()
