"""Tables and JSON on stdout."""

import json
from collections.abc import Iterable, Sequence
from typing import Final

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.speech import visible

_WIDE: Final = 200
"""A file, or a pipe, is as wide as a table needs it."""


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Iterable[str] = ()
) -> None:
    """Print a table of plain text, whoever wrote that.

    Args:
        columns: Their headings.
        rows: A cell for each column.
        numbers: Headings of the columns that stand to the right.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    right = set(numbers)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDE
    console.print(table)


def print_json(content: object) -> None:
    """Print JSON, in letters that no terminal takes for commands."""
    typer.echo(json.dumps(content, indent=2))
