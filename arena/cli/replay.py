"""``arena replay``: work with public replays."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from arena.cli.console import WRONG, fail
from arena.replay import InvalidReplay, is_json, parse
from arena.replay import verify as difference_of

app = typer.Typer(help="Work with public replays.", no_args_is_help=True)


@app.callback()
def replay() -> None:
    """Work with public replays."""


@app.command()
def verify(
    file: Annotated[str, typer.Argument(help="Replays, one a line, or a single document; - for stdin.")],
) -> None:
    """Play every replay again and name the first difference, if there is one."""
    games = line = 0
    try:
        with _opened(file) as stream:
            for line, text in _documents(stream):
                replay = parse(text)
                if difference := difference_of(replay):
                    typer.echo(f"line {line}, game {replay.game}: {difference}")
                    raise typer.Exit(WRONG)
                games += 1
    except InvalidReplay as error:
        fail(f"{file}, line {line}: {error}")
    except OSError as error:
        fail(f"can't read {file}: {error}")
    if not games:
        fail(f"{file} holds no replay")
    typer.echo(f"{games} game{'s' * (games != 1)} verified")


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        yield sys.stdin.buffer
        return
    with Path(file).open("rb") as stream:
        yield stream


def _documents(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield every document with the number of its line, from 1.

    A first line that is not JSON by itself may begin a document of many lines.
    """
    for number, line in enumerate(stream, 1):
        if not line.strip():
            continue
        if number == 1 and not is_json(line):
            text = line + stream.read()
            yield number, text if is_json(text) else line
            return
        yield number, line
