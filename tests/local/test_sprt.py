"""Tests of the sequential probability ratio test: its likelihoods and its error rates."""

import math
import random
from collections import Counter

import pytest

from arena.local.sprt import Hypotheses, SprtVerdict, judge, log_likelihood_ratio
from benchmarks.sprt import SHAPES, simulate_tests, with_mean
from tests.soak import many


def test_the_ratio_of_wins_and_losses_is_that_of_two_coins() -> None:
    """With only two values, the likeliest distributions are known: wins have the share (1 + mean) / 2."""
    wins, losses = 60, 40
    expected = wins * math.log(0.55 / 0.5) + losses * math.log(0.45 / 0.5)
    ratio = log_likelihood_ratio({1.0: wins, -1.0: losses}, 0.1)
    assert ratio == pytest.approx(expected, rel=1e-3)


def test_the_ratio_is_near_that_of_a_normal_distribution() -> None:
    """With many observations and a small effect, both ratios are close."""
    counts = {-1.0: 900, -0.5: 300, 0.0: 3000, 0.5: 350, 1.0: 1000}
    total = sum(counts.values())
    mean = sum(value * count for value, count in counts.items()) / total
    variance = sum(count * (value - mean) ** 2 for value, count in counts.items()) / total
    normal = total * 0.02 * (2 * mean - 0.02) / (2 * variance)
    assert log_likelihood_ratio(counts, 0.02) == pytest.approx(normal, rel=0.05)


def test_bots_that_play_alike_are_not_better() -> None:
    """If no deal makes a difference, the test still ends, after few deals."""
    assert judge({0.0: 40}, Hypotheses()).verdict is SprtVerdict.OPEN
    assert judge({0.0: 64}, Hypotheses()).verdict is SprtVerdict.NOT_BETTER
    assert judge(Counter[float](), Hypotheses()).verdict is SprtVerdict.OPEN


def test_a_few_deals_do_not_decide() -> None:
    """A few deals don't decide, whatever their results."""
    for value in (-1.0, 0.25, 1.0):
        assert judge({value: 8}, Hypotheses()).verdict is SprtVerdict.OPEN


@pytest.mark.parametrize(("effect", "error"), [(0, 0.05), (1, 0.05), (0.05, 0), (0.05, 0.5), (-1, 2)])
def test_hypotheses_that_make_no_sense_are_refused(effect: float, error: float) -> None:
    """The error says which values are allowed."""
    with pytest.raises(ValueError, match="the effect must be above 0"):
        Hypotheses(effect=effect, error=error)


@pytest.mark.parametrize("shape", ["close", "table"])
def test_the_error_rates_are_those_that_were_asked_for(shape: str) -> None:
    """Within four standard deviations, at most 5% of tests are wrong. None calls a worse bot better."""
    dice, tests = random.Random(7), many(60, 500)  # noqa: S311 - reproducible
    most = 0.05 + 4 * math.sqrt(0.05 * 0.95 / tests)
    assert simulate_tests(with_mean(SHAPES[shape], 0.0), Hypotheses(), tests, dice).better <= most
    assert simulate_tests(with_mean(SHAPES[shape], 0.05), Hypotheses(), tests, dice).not_better <= most
    assert simulate_tests(with_mean(SHAPES[shape], -0.05), Hypotheses(), 50, dice).better == 0
