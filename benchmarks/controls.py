"""Measure the CPU time that the sandbox's controls add to a decision: ``python -m benchmarks.controls``.

Two copies of a bot play in each match: one has all controls, and the other lacks some of them. In the next
match they swap seats. The same referee asks both at the same times, so other work on the machine slows both
down equally, and the ratio of their CPU times per decision is valid even on a busy host. For the first line
of the result, no control is removed, which shows the precision.
"""

import argparse
import json
from collections.abc import Callable
from statistics import median, quantiles
from typing import Any, Final

import docker
from rich import box
from rich.console import Console
from rich.table import Table

from arena.protocol.match import MatchRecord, RuntimeName
from arena.sandbox.runtime import SEAT_LABEL
from benchmarks.hall import Hall, open_hall
from benchmarks.report import describe_machine
from benchmarks.tables import BotOutput, bot_cpu

Loosen = Callable[[dict[str, Any]], None]

_GAMES: Final = 100
_FIRST: Final = 2
_MICRO: Final = 1e6


class _LooseClient(docker.APIClient):
    """The engine's client. It removes controls from the containers of one seat."""

    def __init__(self) -> None:
        super().__init__(version="auto", timeout=60, max_pool_size=64)
        self.loosen: Loosen = _remove_nothing
        self.seat = 0

    def create_container(self, *args: Any, **arguments: Any) -> Any:  # noqa: ANN401 - as in the base class
        """Create a container, without the removed controls if it is for the chosen seat."""
        if (arguments.get("labels") or {}).get(SEAT_LABEL) == str(self.seat):
            self.loosen(arguments)
        return super().create_container(*args, **arguments)


def _remove_nothing(_: dict[str, Any]) -> None:
    """Remove no controls."""


def _allow_calls_by_name(arguments: dict[str, Any]) -> None:
    """Allow each call by its name, so that arguments aren't checked and the init can't set a filter."""
    options = arguments["host_config"]["SecurityOpt"]
    place, profile = next(
        (place, json.loads(option.removeprefix("seccomp=")))
        for place, option in enumerate(options)
        if option.startswith("seccomp=")
    )
    allowed = {
        name for rule in profile["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW" for name in rule["names"]
    }
    allowed.remove("prctl")  # otherwise the init would set its own filter
    refused = [
        rule for rule in profile["syscalls"] if "args" not in rule and rule["action"] != "SCMP_ACT_ALLOW"
    ]
    profile["syscalls"] = [{"names": sorted(allowed), "action": "SCMP_ACT_ALLOW"}, *refused]
    options[place] = f"seccomp={json.dumps(profile)}"


def _unmask_files(arguments: dict[str, Any]) -> None:
    """Use only the engine's default masks, and skip the init's Landlock domain."""
    config = arguments["host_config"]
    del config["MaskedPaths"]
    options = config["SecurityOpt"]
    options[:] = [option.replace('"landlock_create_ruleset",', "") for option in options]


def _remove_all(arguments: dict[str, Any]) -> None:
    """Remove what the two functions above remove, and the limits on the disk."""
    _unmask_files(arguments)
    _allow_calls_by_name(arguments)
    for name in ("BlkioDeviceReadBps", "BlkioDeviceReadIOps"):
        arguments["host_config"].pop(name, None)


_KINDS: Final[dict[str, Loosen]] = {
    "nothing": _remove_nothing,
    "rules on arguments of system calls": _allow_calls_by_name,
    "masks of /proc and /sys, Landlock": _unmask_files,
    "both, and the limits on the disk": _remove_all,
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.controls",
        description="Measure the CPU time that the sandbox's controls add to a decision.",
    )
    parser.add_argument(
        "--times", type=int, default=20, help="matches per seating and kind of control (default: %(default)s)"
    )
    times: int = parser.parse_args().times
    client = _LooseClient()
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in _KINDS}
    with open_hall(RuntimeName.DOCKER, lambda: client) as hall:
        machine = describe_machine(hall.runtime.describe)
        for number in range(times + 1):
            for name, client.loosen in _KINDS.items():
                cost = _measure_both_seatings(hall, client)
                if number:  # the first matches are a warm-up
                    costs[name].append(cost)
    _print(machine, costs)


def _measure_both_seatings(hall: Hall, client: _LooseClient) -> tuple[float, float]:
    """Play two matches; return the CPU seconds per decision with all controls and without some of them."""
    tight = loose = 0.0
    for client.seat in (0, 1):
        cpu = [bot_cpu([BotOutput.read(seat.stderr)]) for seat in _play(hall).seats]
        loose += cpu.pop(client.seat) / 2
        tight += cpu[0] / 2
    return tight, loose


def _play(hall: Hall) -> MatchRecord:
    record = hall.play(hall.spec(games=_GAMES, at_once=1))
    decisions = (decision for game in record.games for step in game.steps for decision in step)
    if any(decision is not None and decision.standin for decision in decisions):
        raise RuntimeError("the stand-in made some decisions, so this match can't be measured")
    return record


def _print(machine: dict[str, str], costs: dict[str, list[tuple[float, float]]]) -> None:
    console = Console(highlight=False, width=120)
    console.print("  ".join(f"{name}: {value}" for name, value in machine.items()), soft_wrap=True)
    table = Table(title="A bot's CPU per decision, with all controls and without some", box=box.SIMPLE_HEAD)
    table.add_column("removed")
    for heading in ("with, µs", "without, µs", "ratio", "quartiles", "minimum", "maximum", "pairs"):
        table.add_column(heading, justify="right")
    for name, pairs in costs.items():
        ratios = [tight / loose for tight, loose in pairs]
        low, _, high = quantiles(ratios) if len(ratios) >= _FIRST else (ratios[0],) * 3
        table.add_row(
            name,
            *(f"{median(each) * _MICRO:.0f}" for each in zip(*pairs, strict=True)),
            f"{median(ratios):.3f}",
            f"{low:.3f} to {high:.3f}",
            f"{min(ratios):.3f}",
            f"{max(ratios):.3f}",
            str(len(ratios)),
        )
    console.print(table)


if __name__ == "__main__":
    main()
