"""Measure the error rate of `arena compare` and the number of deals that it needs.

    python -m benchmarks.sprt --tests 1000

Draws the deals' differences from distributions with a known mean and applies the command's test to them.
`duel` has the spread of two-player games between very different bots, `close` that of games between two
versions of one bot, which usually make the same moves, and `table` that of five-player games.
"""

import argparse
import math
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from arena.local.compare import EVALUATION_INTERVAL
from arena.local.sprt import Hypotheses, SprtVerdict, judge

Distribution = Mapping[float, float]

SHAPES: Final[Mapping[str, Distribution]] = {
    "duel": {-1.0: 0.2, -0.5: 0.02, 0.0: 0.56, 0.5: 0.02, 1.0: 0.2},
    "close": {-1.0: 0.02, -0.5: 0.01, 0.0: 0.94, 0.5: 0.01, 1.0: 0.02},
    "table": {value / 8: math.comb(16, value + 8) / 2**16 for value in range(-8, 9)},
}
_MEANS: Final = (-0.05, 0.0, 0.025, 0.05, 0.1)
_MAX_DEALS: Final = 10_000
_HALVINGS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """The share of tests with each result, and the mean number of deals."""

    better: float
    not_better: float
    deals: float


def with_mean(shape: Distribution, mean: float) -> Distribution:
    """Return the distribution with this mean that is closest to a shape: each share times exp(t · value)."""
    low, high = -50.0, 50.0
    tilted: dict[float, float] = {}
    for _ in range(_HALVINGS):
        tilt = (low + high) / 2
        weights = {value: share * math.exp(tilt * value) for value, share in shape.items()}
        tilted = {value: weight / sum(weights.values()) for value, weight in weights.items()}
        is_low = sum(value * share for value, share in tilted.items()) < mean
        low, high = (tilt, high) if is_low else (low, tilt)
    return tilted


def simulate_tests(truth: Distribution, hypotheses: Hypotheses, tests: int, dice: random.Random) -> Rates:
    """Run tests on deals drawn from a distribution."""
    ends: Counter[SprtVerdict] = Counter()
    deals = 0
    for _ in range(tests):
        seen: Counter[float] = Counter()
        verdict = SprtVerdict.OPEN
        while verdict is SprtVerdict.OPEN and seen.total() < _MAX_DEALS:
            seen.update(dice.choices(list(truth), list(truth.values()), k=EVALUATION_INTERVAL))
            verdict = judge(seen, hypotheses).verdict
        ends[verdict] += 1
        deals += seen.total()
    return Rates(
        better=ends[SprtVerdict.BETTER] / tests,
        not_better=ends[SprtVerdict.NOT_BETTER] / tests,
        deals=deals / tests,
    )


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--tests", type=int, default=1000, help="tests per line of the table (default: %(default)s)"
    )
    tests = parser.parse_args().tests
    hypotheses, dice = Hypotheses(), random.Random(1)  # noqa: S311 - must be reproducible
    print("| deals | true difference | better | not better | deals needed |")
    print("| --- | --- | --- | --- | --- |")
    for name, shape in SHAPES.items():
        for mean in _MEANS:
            rates = simulate_tests(with_mean(shape, mean), hypotheses, tests, dice)
            shares = f"{100 * rates.better:.1f} % | {100 * rates.not_better:.1f} %"
            print(f"| {name} | {100 * mean:+.1f} points | {shares} | {rates.deals:.0f} |", flush=True)


if __name__ == "__main__":
    main()
