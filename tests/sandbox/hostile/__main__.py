"""``make hostile``: plays every attack, and its control, and prints the table."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import docker
from rich.console import Console
from rich.table import Table

from arena.images import ensure_base_image
from arena.languages import PYTHON
from tests.sandbox.hostile.attack import Attack
from tests.sandbox.hostile.catalog import ATTACKS
from tests.sandbox.hostile.stage import HostileStage

_MIB: Final = 1024 * 1024


@dataclass(slots=True)
class _Line:
    """What came of an attack in all its plays."""

    attack: Attack
    got: set[str] = field(default_factory=set)
    seconds: float = 0
    memory: float = 0
    held: int = 0
    succeeded: int = 0
    wrong: list[str] = field(default_factory=list)


def main() -> int:
    """Play, print, and return the exit code."""
    parser = argparse.ArgumentParser(prog="make hostile", description=__doc__)
    parser.add_argument("--runtime", default="", help="the engine's name of what runs containers")
    parser.add_argument("--times", type=int, default=1, help="how often each is played")
    parser.add_argument("numbers", type=int, nargs="*", help="of attacks; all without")
    options = parser.parse_args()
    chosen = [attack for attack in ATTACKS if not options.numbers or attack.number in options.numbers]
    lines = [_Line(attack) for attack in chosen]
    client = docker.from_env()
    stage = HostileStage(client, ensure_base_image(client, PYTHON), options.runtime or None)
    try:
        for turn in range(options.times):
            for line in lines:
                _play(stage, line, turn)
    finally:
        stage.close()
        client.close()
    _print(lines, options.times, stage.runtime.describe, gvisor=stage.gvisor)
    return any(line.wrong for line in lines)


def _play(stage: HostileStage, line: _Line, turn: int) -> None:
    attack = line.attack
    outcome, wrong = stage.attack(attack)
    line.got.add(outcome.verdict)
    line.seconds = max(line.seconds, outcome.seconds)
    line.memory = max(line.memory, outcome.peak.bots)
    line.held += not wrong
    line.wrong += wrong
    removable = not (stage.gvisor and attack.control.gvisor)
    failed = stage.attack_without_control(attack)[1] if removable else ()
    line.succeeded += removable and not failed
    line.wrong += [f"without {attack.control.name}: {what}" for what in failed]
    state = "held" if not wrong and not failed else "NOT HELD"
    print(f"{turn + 1} {attack.number} {attack.name}: {state}", file=sys.stderr, flush=True)  # noqa: T201
    for what in (*wrong, *failed):
        print(f"    {what}", file=sys.stderr, flush=True)  # noqa: T201


def _print(lines: Sequence[_Line], times: int, runtime: str, *, gvisor: bool) -> None:
    table = Table(title=f"Hostile bots under {runtime}", caption=f"played {times} times")
    for name in ("no", "attack", "expected", "got", "seconds", "MiB", "held", "control", "without it"):
        table.add_column(name)
    for line in lines:
        table.add_row(
            str(line.attack.number),
            line.attack.name,
            "/".join(line.attack.verdicts),
            "/".join(sorted(line.got)),
            f"{line.seconds:.1f}",
            f"{line.memory / _MIB:.0f}",
            f"{line.held} of {times}",
            line.attack.control.name,
            line.attack.control.gvisor
            if gvisor and line.attack.control.gvisor
            else f"succeeds {line.succeeded} of {times}",
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    sys.exit(main())
