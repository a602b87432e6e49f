"""Play every hostile bot, with and without the control that stops it, and print a table of the results."""

import argparse
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import docker
from rich.console import Console
from rich.table import Table

from arena.images.build.base import ensure_base_image
from arena.languages.python import PYTHON
from arena.sandbox.docker.builder import DockerBuilder
from tests.sandbox.hostile.attack import Attack
from tests.sandbox.hostile.catalog import ATTACKS
from tests.sandbox.hostile.stage import HostileStage
from tests.sandbox.hostile.uploads import UPLOADS, Upload, take

_MIB: Final = 1024 * 1024


@dataclass(slots=True)
class _Line:
    """The results of all plays of one attack."""

    attack: Attack | Upload
    got: set[str] = field(default_factory=set)
    seconds: float = 0
    memory: float = 0
    stopped: int = 0
    failed_without: bool = False
    wrong: bool = False

    def add(
        self, got: str, seconds: float, memory: float, wrong: Sequence[str], loose: Sequence[str]
    ) -> None:
        """Add the result of one play, and print what was wrong."""
        self.got.add(got)
        self.seconds = max(self.seconds, seconds)
        self.memory = max(self.memory, memory)
        self.stopped += not wrong
        self.failed_without |= bool(loose)
        self.wrong |= bool(wrong or loose)
        _say(f"{self.attack.number} {self.attack.name}: {'FAILED' if wrong or loose else 'passed'}")
        for what in wrong:
            _say(f"    {what}")
        for what in loose:
            _say(f"    without the control: {what}")


def main() -> int:
    """Play the attacks, print the results, and return the exit code."""
    parser = argparse.ArgumentParser(prog="make hostile", description=__doc__)
    parser.add_argument("--runtime", help="the engine's name for the runtime of the containers")
    parser.add_argument(
        "--times",
        type=int,
        default=1,
        help="runs of each bot with its control (default: %(default)s); each also runs once without it",
    )
    parser.add_argument(
        "numbers",
        type=int,
        nargs="*",
        metavar="NUMBER",
        help="numbers of the hostile bots to play (default: all)",
    )
    options = parser.parse_args()
    attacks: tuple[Attack | Upload, ...] = (*ATTACKS, *UPLOADS)
    lines = [_Line(attack) for attack in attacks if not options.numbers or attack.number in options.numbers]
    # So that SIGTERM, too, leads to the cleanup in `finally`.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    client = docker.from_env(use_context=False)
    stage = HostileStage(client, ensure_base_image(DockerBuilder(client.api), PYTHON), options.runtime)
    try:
        for turn in range(options.times):
            _say(f"-- {turn + 1} of {options.times}")
            for line in lines:
                _play(stage, line, loosen=turn == 0)
    finally:
        stage.close()
        client.close()
    _print(lines, options.times, stage)
    return any(line.wrong for line in lines)


def _play(stage: HostileStage, line: _Line, *, loosen: bool) -> None:
    """Play an attack, and with ``loosen`` also without its control: it must succeed once."""
    attack = line.attack
    if isinstance(attack, Upload):
        taken = take(attack)
        got = "/".join(sorted(taken.verdicts))
        line.add(got, taken.seconds, taken.memory, taken.wrong, taken.loose)
        return
    (outcome,), wrong = stage.attack(attack)
    stays = stage.gvisor and attack.control.gvisor
    loose = stage.attack_without_control(attack)[1] if loosen and not stays else ()
    line.add(outcome.verdict, outcome.seconds, outcome.peak.bots, wrong, loose)


def _print(lines: Sequence[_Line], times: int, stage: HostileStage) -> None:
    table = Table(title=f"Hostile bots under {stage.runtime.describe}")
    for name in ("no", "attack", "expected", "got", "seconds", "MiB", "stopped", "control", "without it"):
        table.add_column(name)
    for line in lines:
        attack = line.attack
        expected, control, stays = "R/harmless", "repacking and its limits", ""
        if isinstance(attack, Attack):
            expected, control, stays = "/".join(attack.verdicts), attack.control.name, attack.control.gvisor
        table.add_row(
            str(attack.number),
            attack.name,
            expected,
            "/".join(sorted(line.got)),
            f"{line.seconds:.1f}",
            f"{line.memory / _MIB:.0f}",
            f"{line.stopped} of {times}",
            control,
            stays if stage.gvisor and stays else "fails" if line.failed_without else "succeeds",
        )
    Console(width=120).print(table)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - a command writes to its terminal


if __name__ == "__main__":
    sys.exit(main())
