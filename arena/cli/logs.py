"""``arena logs``: what one's own bots left of a game."""

from collections.abc import Iterator
from typing import Annotated

import typer

from arena.cli.console import echo
from arena.cli.online import part, visiting
from arena.cli.terminal import print_json
from arena.client.played import LoggedDecision, LoggedSeat, Logs


def logs(
    game: Annotated[str, typer.Argument(help="Its id, as in the address of its page.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print what your bots wrote to stderr in a game, their notes and their faults."""
    with visiting() as site:
        told = site.get(f"/games/{part(game)}/logs")
        if as_json:
            print_json(told)
            return
        for seat in site.read(told, Logs).seats:
            for line in _lines(seat):
                echo(line)


def _lines(seat: LoggedSeat) -> Iterator[str]:
    name = seat.bot if seat.version is None else f"{seat.bot}@{seat.version}"
    yield f"seat {seat.seat}: {name}{_end(seat)}"
    if seat.decisions:
        yield "  decisions"
        yield from (f"    {_decision(each)}" for each in seat.decisions)
    if seat.stderr.strip():
        yield "  stderr of the whole match"
        yield from (f"    {line}" for line in seat.stderr.rstrip().split("\n"))


def _end(seat: LoggedSeat) -> str:
    words = [] if seat.exit_code is None else [f"exit code {seat.exit_code}"]
    if seat.out_of_memory:
        words.append("ended by the kernel for memory")
    if seat.trouble:
        words.append(seat.trouble)
    return f" ({', '.join(words)})" if words else ""


def _decision(decision: LoggedDecision) -> str:
    words = [word for word in (decision.fault, decision.trouble) if word]
    if decision.millis is not None:
        words.append(f"{decision.millis:.0f} ms")
    told = f"round {decision.round}, turn {decision.turn}: {', '.join(words)}"
    return f"{told}  {decision.note}" if decision.note else told
