"""How commands speak: messages on stderr, errors in one line, bars on terminals only."""

import logging
import sys
from collections.abc import Iterable, Iterator
from typing import Final, NoReturn, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from arena.speech import spoken, visible

WRONG: Final = 1
"""Exit code: the thing that was checked or run is wrong."""
USAGE: Final = 2
"""Exit code: wrong usage or unusable input."""

INTERRUPTED: Final = 130
"""Exit code: Ctrl-C."""

T = TypeVar("T")


def fail(message: str, code: int = USAGE) -> NoReturn:
    """Say what is wrong on stderr and end with this exit code."""
    say(message, logging.ERROR)
    raise typer.Exit(code)


def say(text: str, level: int = logging.INFO) -> None:
    """Say something on stderr. Whoever wrote it, it moves no cursor; only it may have several lines.

    Args:
        text: What.
        level: Its weight, where the command's log is for programs: there it is a line of it.
    """
    if not spoken(text, level):
        typer.echo("\n".join(map(visible, f"arena: {text}".split("\n"))), err=True)


def echo(text: str) -> None:
    """Print a line on stdout that a site or a bot may have written: it stays one, and moves no cursor."""
    typer.echo(visible(text))


def tracked(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """Pass items on, with a progress bar on stderr where that is a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield from progress.track(items, total=total, description=what)
