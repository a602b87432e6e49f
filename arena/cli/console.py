"""Console output: messages and errors on stderr, progress bars only on terminals."""

import errno
import json
import logging
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Annotated, BinaryIO, Final, NoReturn, TypeVar

import typer
from msgspec import convert, to_builtins
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from arena.platform.files import sync
from arena.platform.text import log_message, visible
from arena.protocol.decoding import prepared

EXIT_FAILURE: Final = 1
"""Exit code: the check or the action failed."""
EXIT_USAGE: Final = 2
"""Exit code: incorrect usage or unusable input."""

EXIT_INTERRUPTED: Final = 130
"""Exit code: interrupted with Ctrl-C, SIGTERM or SIGHUP."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

T = TypeVar("T")


def fail(message: str, code: int = EXIT_USAGE) -> NoReturn:
    """Print an error on stderr and exit with ``code``."""
    say(message, logging.ERROR)
    raise typer.Exit(code)


def say(text: str, level: int = logging.INFO) -> None:
    """Print a message of one or more lines on stderr, without control characters.

    If the command logs JSON, the message becomes a log entry at this ``level``.
    """
    if not log_message(text, level):
        show(f"arena: {text}")


def show(text: str) -> None:
    """Print untrusted text of one or more lines on stderr, without control characters."""
    typer.echo("\n".join(map(visible, text.split("\n"))), err=True)


def echo(text: str) -> None:
    """Print one line of untrusted text on stdout, without control characters."""
    typer.echo(visible(text))


def at_version(bot: str, version: int | None) -> str:
    """Return ``BOT@VERSION``, or only the bot's name if ``version`` is None."""
    return bot if version is None else f"{bot}@{version}"


def read_secret(what: str, *, confirm: bool = False) -> str:
    """Read a secret from a terminal, or from the first line of stdin if it isn't a terminal.

    With ``confirm``, the secret must be entered twice on a terminal. Exits on Ctrl-C, or if the line is not
    UTF-8.
    """
    if sys.stdin.isatty():
        try:
            secret: str = typer.prompt(what, hide_input=True, confirmation_prompt=confirm, err=True)
        except typer.Abort:
            raise typer.Exit(EXIT_INTERRUPTED) from None
        return secret
    try:
        return sys.stdin.buffer.readline().decode().rstrip("\r\n")
    except UnicodeDecodeError:
        fail(f"the {what.lower()} on standard input is not UTF-8 text")


def track(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """Yield the items, and show a progress bar if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield from progress.track(items, total=total, description=what)


_WIDE: Final = 200
"""Width of a table in a file or a pipe."""


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Iterable[str] = ()
) -> None:
    """Print a table of untrusted text; ``numbers`` are the headings of right-aligned columns."""
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


def millis(value: float | None) -> str:
    """Format milliseconds as a whole number or, below ten, with two significant digits; None as a hyphen."""
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"  # noqa: PLR2004 - two digits are enough


def print_json(content: object) -> None:
    """Print data as JSON without control characters, with keys and times as in the API."""
    typer.echo(json.dumps(to_builtins(content), indent=2))


def public(records: Iterable[object], document: type[T]) -> tuple[T, ...]:
    """Return records as the public documents that they extend, without the fields that they add."""
    kind = prepared(document)
    return tuple(convert(record, kind, from_attributes=True) for record in records)


_NEW: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


@contextmanager
def open_output(target: str, *, private: bool = False) -> Iterator[BinaryIO]:
    """Open a file for writing; ``-`` means stdout.

    A file is written under a temporary name and renamed at the end, once it is on disk. While it is open,
    it can be read back. An error or interruption leaves no file behind. Stdout and devices receive the data
    directly. ``private`` makes a file unreadable to other users. Raises OSError.
    """
    if target == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(os.path.realpath(target))
    if path.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), target)
    if path.is_dir():
        raise IsADirectoryError(f"{target} is a folder: specify a file in it")
    if path.exists() and not path.is_file():
        with path.open("wb") as device:
            yield device
        return
    # Random, because a process in another container, or one that was killed, may have had the same id.
    part = path.with_name(f".{path.name}.{token_hex(4)}.part")
    opened = os.open(part, _NEW, 0o600 if private else 0o666)
    try:
        with os.fdopen(opened, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        sync(path.parent)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def exit_on_write_error(target: str | None) -> Iterator[None]:
    """Turn an OSError into a message and an exit code.

    The message is about writing ``target`` or, if that is None, about playing.
    """
    try:
        yield
    except BrokenPipeError:
        raise  # the program that was reading stdout has exited, so exit quietly
    except OSError as error:
        fail(f"can't write {target}: {error}" if target else f"can't play games on this machine: {error}")
