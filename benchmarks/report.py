"""The figures of a run, their medians over several repetitions, and the host, as a table and as JSON."""

import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import NamedTuple

import google.protobuf
import grpc
from rich import box
from rich.console import Console
from rich.table import Table


class Figure(NamedTuple):
    """One measured value."""

    section: str  # the part of the report
    name: str  # unique in its section
    value: float  # the value in `unit`
    unit: str  # `x` for a ratio of two figures of the same repetition
    goal: str = ""  # as text, or empty


class Summary(NamedTuple):
    """One figure over all repetitions; ``figure`` holds the median."""

    figure: Figure
    values: tuple[float, ...]


def summarise(repetitions: Sequence[Sequence[Figure]]) -> Iterator[Summary]:
    """Yield each figure's median. All repetitions have the same figures in the same order."""
    for same in zip(*repetitions, strict=True):
        values = tuple(figure.value for figure in same)
        yield Summary(same[0]._replace(value=median(values)), values)


def describe_machine(sandbox: str) -> dict[str, str]:
    """Return the machine's properties by name, in the order in which they are shown."""
    return {
        "cores": f"{len(os.sched_getaffinity(0))} ({_processor()})",
        "load at the start": f"{os.getloadavg()[0]:.1f}",
        "system": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
        "grpcio": grpc.__version__,
        "protobuf": google.protobuf.__version__,
        "sandbox": sandbox,
    }


def _processor() -> str:
    """Return the processor's name according to Linux."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


_SMALL = 10
_LARGE = 100
_MEASURED = ("x", "%", "µs", "ms")
"""Units whose values have decimals; others are whole numbers."""


def print_report(machine: Mapping[str, str], summaries: Sequence[Summary]) -> None:
    """Print everything on stdout, at least 120 columns wide, and without colours if stdout is a file."""
    console = Console(highlight=False)
    console.width = max(console.width, 120)
    console.print("  ".join(f"{name}: {value}" for name, value in machine.items()), soft_wrap=True)
    for section, members in groupby(summaries, lambda summary: summary.figure.section):
        table = Table(title=section, box=box.SIMPLE_HEAD, title_justify="left")
        table.add_column("", width=58)
        for heading in ("median", "minimum", "maximum"):
            table.add_column(heading, justify="right", width=8)
        table.add_column("unit", width=7)
        table.add_column("goal", width=11)
        for figure, values in members:
            numbers = (figure.value, min(values), max(values))
            cells = (_number(number, figure.unit) for number in numbers)
            table.add_row(figure.name, *cells, figure.unit, figure.goal)
        console.print(table)


def as_json(machine: Mapping[str, str], summaries: Sequence[Summary]) -> str:
    """Return everything as JSON."""
    figures = [
        {
            "section": figure.section,
            "name": figure.name,
            "unit": figure.unit,
            "goal": figure.goal,
            "median": figure.value,
            "values": values,
        }
        for figure, values in summaries
    ]
    return json.dumps({"machine": machine, "figures": figures}, indent=2, ensure_ascii=False) + "\n"


def _number(value: float, unit: str) -> str:
    if value < _SMALL and unit in _MEASURED:
        return f"{value:.2f}"
    return f"{value:.1f}" if value < _LARGE and unit in _MEASURED else f"{value:,.0f}"
