"""Fit the weighers' strengths to games at random tables, and write recorded.json.

Run this again only if the weighers change: python -m benchmarks.ladder.record --games 40000
"""

import argparse
import json
import math
import random
from collections.abc import Sequence

from benchmarks.ladder.populations import RECORDED, SIZES, WEIGHERS_SEED
from benchmarks.ladder.weighers import draw_weigher, play_weighers

_ROUNDS = 30

_Table = tuple[list[int], tuple[int, ...]]
"""Bots and their points, by seat."""


def main() -> None:
    """Play, fit and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--games", type=int, default=40_000, help="games per number of players (default: %(default)s)"
    )
    parser.add_argument("--bots", type=int, default=50, help="number of bots (default: %(default)s)")
    wanted = parser.parse_args()
    dice = random.Random(WEIGHERS_SEED)  # noqa: S311 - must be reproducible
    bots = [draw_weigher(dice) for _ in range(wanted.bots)]
    strengths: dict[int, list[float]] = {}
    for players in SIZES:
        played: list[_Table] = []
        for _ in range(wanted.games):
            table = dice.sample(range(len(bots)), players)
            result = play_weighers([bots[bot] for bot in table], dice).result
            played.append((table, () if result is None else result.totals))
        strengths[players] = [round(each, 4) for each in fit_strengths(played, len(bots))]
    recorded = {"games": wanted.games, "strengths": strengths}
    RECORDED.write_text(json.dumps(recorded) + "\n")


def fit_strengths(played: Sequence[_Table], bots: int) -> list[float]:
    """Return the least-squares strengths in points, divided by the standard deviation of the residuals."""
    strengths = [0.0] * bots
    for _ in range(_ROUNDS):
        sums, counts = [0.0] * bots, [0.0] * bots
        for table, points in played:
            average = math.fsum(points) / len(table)
            expected = math.fsum(strengths[bot] for bot in table) / len(table)
            for bot, own in zip(table, points, strict=True):
                # The expectation includes the bot's own strength, so solve the equation for it.
                sums[bot] += own - average + expected - strengths[bot] / len(table)
                counts[bot] += 1 - 1 / len(table)
        strengths = [total / count for total, count in zip(sums, counts, strict=True)]
        centre = math.fsum(strengths) / bots
        strengths = [each - centre for each in strengths]
    squares, freedom = 0.0, 0
    for table, points in played:
        average = math.fsum(points) / len(table)
        expected = math.fsum(strengths[bot] for bot in table) / len(table)
        squares += math.fsum(
            (own - average - strengths[bot] + expected) ** 2 for bot, own in zip(table, points, strict=True)
        )
        freedom += len(table) - 1
    noise = math.sqrt(squares / freedom)
    return [each / noise for each in strengths]


if __name__ == "__main__":
    main()
