"""A sequential test on paired results: the generalised sequential probability ratio test (GSPRT).

Each observation is the difference between two bots on one deal, from -1 to 1; deals are independent. No
distribution is assumed. Under H0 the mean difference is 0, and under H1 it is ``effect``. Each hypothesis is
represented by the most likely distribution over the observed values with its mean. The log-likelihood ratio
compares the two distributions. The test stops at Wald's bounds. Fishtest tests chess programs in the same
way. The method is described in Michel Van den Bergh, "The generalized maximum likelihood ratio for the
expectation of a distribution".
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

_ENDS: Final = (-1.0, 1.0)
_PSEUDO_COUNT: Final = 1e-3
"""Weight added to the observations -1 and 1, as in fishtest, so that every mean between them is possible."""

_HALVINGS: Final = 50
CONFIDENCE: Final = 1.959964
"""Half the width of a normal distribution's 95% interval, in standard deviations."""


class SprtVerdict(StrEnum):
    """The verdict from the observations so far."""

    BETTER = "better"
    NOT_BETTER = "not better"
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypotheses:
    """The hypotheses of a test."""

    effect: float = 0.05  # the mean difference under H1, between 0 and 1
    # The probability of accepting H1 when H0 is true, and of accepting H0 when H1 is true.
    error: float = 0.05

    def __post_init__(self) -> None:
        if not (0 < self.effect < 1 and 0 < self.error < 1 / 2):
            raise ValueError(
                f"effect {self.effect} and error {self.error}: the effect must be above 0 and below 1, "
                "and the error above 0 and below 0.5"
            )

    @property
    def bound(self) -> float:
        """The log-likelihood ratio at which H1 is accepted. At its negative, H0 is accepted."""
        return math.log((1 - self.error) / self.error)


class SprtState(NamedTuple):
    """The state of a test."""

    observed: int  # number of observations
    mean: float  # their mean
    within: float | None  # half the width of its 95% interval; None for fewer than two observations
    ratio: float  # the log-likelihood ratio of H1 to H0
    verdict: SprtVerdict


def judge(differences: Mapping[float, int], hypotheses: Hypotheses) -> SprtState:
    """Return the state of a test. ``differences`` maps each observed difference to how often it occurred."""
    count = sum(differences.values())
    if not count:
        return SprtState(0, 0.0, None, 0.0, SprtVerdict.OPEN)
    mean = math.fsum(value * times for value, times in differences.items()) / count
    squares = math.fsum(times * (value - mean) ** 2 for value, times in differences.items())
    within = CONFIDENCE * math.sqrt(squares / (count - 1) / count) if count > 1 else None
    ratio = log_likelihood_ratio(differences, hypotheses.effect)
    verdict = SprtVerdict.OPEN
    if abs(ratio) >= hypotheses.bound:
        verdict = SprtVerdict.BETTER if ratio > 0 else SprtVerdict.NOT_BETTER
    return SprtState(count, mean, within, ratio, verdict)


def log_likelihood_ratio(differences: Mapping[float, int], effect: float) -> float:
    """Return the log-likelihood ratio of the mean ``effect`` to the mean 0."""
    counts = Counter[float](differences)
    weights: dict[float, float] = dict(counts)
    for end in _ENDS:
        weights[end] = weights.get(end, 0.0) + _PSEUDO_COUNT
    total = math.fsum(weights.values())
    shares = {value: weight / total for value, weight in weights.items()}
    first, second = _tilt(shares, 0.0), _tilt(shares, effect)
    return counts.total() * math.fsum(
        share * math.log((1 + first * value) / (1 + second * (value - effect)))
        for value, share in shares.items()
    )


def _tilt(shares: Mapping[float, float], mean: float) -> float:
    """Return t such that the shares p/(1 + t(value - mean)) have this mean and are the likeliest that do."""
    low, high = -1 / (max(shares) - mean), 1 / (mean - min(shares))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        slope = math.fsum(
            share * (value - mean) / (1 + middle * (value - mean)) for value, share in shares.items()
        )
        low, high = (middle, high) if slope > 0 else (low, middle)
    return (low + high) / 2
