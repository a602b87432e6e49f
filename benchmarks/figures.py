"""Figures of one run, and their medians over several."""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple


class Figure(NamedTuple):
    """One measured value."""

    section: str  # what it is part of
    name: str  # unique in its section
    value: float  # in that unit
    unit: str  # `x` is a ratio of two figures of the same repetition
    goal: str = ""  # in words, or empty


class Summary(NamedTuple):
    """One figure over all repetitions; ``figure`` holds the median."""

    figure: Figure
    values: tuple[float, ...]


def summarise(repetitions: Sequence[Sequence[Figure]]) -> Iterator[Summary]:
    """Yield the median of every figure. All repetitions have the same figures in the same order."""
    for same in zip(*repetitions, strict=True):
        values = tuple(figure.value for figure in same)
        yield Summary(same[0]._replace(value=median(values)), values)
