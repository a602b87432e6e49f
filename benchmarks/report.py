"""The figures as a table and as JSON."""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby

from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.figures import Summary

_SMALL = 10
_LARGE = 100
_MEASURED = ("x", "%", "µs", "ms")
"""Units with decimals; values of other units are whole numbers."""


def print_report(machine: Mapping[str, str], summaries: Sequence[Summary]) -> None:
    """Print everything on stdout; without colours and wide enough where that is a file."""
    console = Console(highlight=False)
    console.width = max(console.width, 120)
    console.print("  ".join(f"{name}: {value}" for name, value in machine.items()), soft_wrap=True)
    for section, members in groupby(summaries, lambda summary: summary.figure.section):
        table = Table(title=section, box=box.SIMPLE_HEAD, title_justify="left")
        table.add_column("", width=58)
        for heading in ("median", "least", "most"):
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
