"""``arena admin ladder``: what is played."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from arena.bootstrap import limits_of_bots, utc_now
from arena.cli.console import fail
from arena.cli.operating import opened_arena, who
from arena.cli.terminal import print_json, print_table
from arena.operators import LadderOperators, LadderStatus
from arena.store import LadderChange

_RULES = "the basic game"


def ladder(
    *,
    pause: Annotated[
        bool | None, typer.Option("--pause/--resume", help="Draw no more sets, or draw them again.")
    ] = None,
    players: Annotated[
        str | None, typer.Option(help="Numbers of players of its tables, with commas between, as in 2,3,4.")
    ] = None,
    deals: Annotated[int | None, typer.Option(help="Deals of a set, 1 to 24.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what the ladder plays, and change it from the next set on."""
    tables = None if players is None else _numbers(players)
    with opened_arena() as (settings, store):
        operators = LadderOperators(store, utc_now, limits_of_bots(settings))
        if pause is None and tables is None and deals is None:
            status = operators.status()
        else:
            status = operators.change(who(), LadderChange(paused=pause, players=tables, deals=deals))
    if as_json:
        print_json(_plain(status))
    else:
        print_table(("ladder", "paused" if status.settings.paused else "plays"), _rows(status))


def _numbers(text: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdigit() for word in words):
        fail(f"--players {text!a} names no tables: write numbers of players with commas between, as in 2,3,4")
    return tuple(sorted(int(word[:9]) for word in words))


def _plain(status: LadderStatus) -> dict[str, Any]:
    return {
        "rules": _RULES,
        "paused": status.settings.paused,
        "players": list(status.settings.players),
        "deals": status.settings.deals,
        "clock": asdict(status.clock),
        "limits": asdict(status.limits),
        "games": status.games,
        "waiting": status.waiting,
        "running": status.running,
        "quarantined": status.quarantined,
    }


def _rows(status: LadderStatus) -> list[tuple[str, str]]:
    settings, clock, limits = status.settings, status.clock, status.limits
    return [
        ("rules", _RULES),
        ("players", ", ".join(map(str, settings.players))),
        ("deals", f"{settings.deals} a set, 1 where somebody in it has no rated game yet"),
        ("start", f"{clock.start_millis} ms"),
        ("decision", f"{clock.move_millis} ms, and a bank of {clock.bank_millis} ms a game for longer ones"),
        ("processor", f"{limits.cpus} of a core"),
        ("memory", f"{limits.memory_mib} MiB, of these {limits.tmp_mib} for /tmp"),
        ("processes", str(limits.pids)),
        ("rated games", str(status.games)),
        ("matches", f"{status.waiting} wait, {status.running} run, {status.quarantined} were put aside"),
    ]
