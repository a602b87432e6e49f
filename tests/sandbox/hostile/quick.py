"""Plays attacks that only the channel need stop, with plain processes and a real referee."""

import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Final
from unittest.mock import patch

from arena.play.launcher.launcher import Launcher
from arena.protocol.match import Clock, MatchRecord, MatchSpec, RuntimeName, decode, encode
from tests.builders import match_spec
from tests.sandbox.hostile import bot
from tests.sandbox.hostile.attack import Attack, Outcome, Peak, seats_of
from tests.sandbox.stage import ProcessStage

_ROOT: Final = Path(__file__).parents[3]

_MEASURED: Final = """
from arena.play.referee.conductor import Conductor
peak, run = open({path!r}, "w"), Conductor.run
async def measured(self):
    await run(self)
    # Not ru_maxrss, which includes the time before the process started this program.
    print(open("/proc/self/status").read().split("VmHWM:")[1].split()[0], file=peak, flush=True)
Conductor.run = measured
"""


class QuickStage:
    """Plays attacks in plain processes."""

    def __init__(self) -> None:
        self._stage = ProcessStage()
        self._folder = Path(tempfile.mkdtemp(prefix="kaiten-q-"))  # short: a socket's path may have 107 bytes
        self._folder.chmod(0o711)
        self._run_dir = self._folder / "run"
        self._launcher = Launcher(self._stage.runtime, self._stage.install, self._run_dir)

    def play(self, attacks: Sequence[Attack], clock: Clock) -> tuple[MatchSpec, tuple[Outcome, ...]]:
        """Play attacks in one match, with an honest bot on the last seat."""
        spec, outcome = self._play([attack.program for attack in attacks], clock, "")
        return spec, tuple(replace(outcome, seat=seat) for seat in seats_of(attacks))

    def play_without_control(self, attack: Attack, clock: Clock) -> Outcome:
        """Play an attack against an honest bot, without its control."""
        control = attack.control
        return self._play([attack.program], control.clock or clock, control.referee or "")[1]

    def _play(
        self, programs: list[Callable[[], object]], clock: Clock, lines: str
    ) -> tuple[MatchSpec, Outcome]:
        seats = [self._source(p.__module__, p.__name__) for p in (*programs, bot.honest)]
        spec = replace(match_spec(seats, clock=clock, runtime=RuntimeName.PROCESS), seeds=("5" * 32,))
        begun = time.monotonic()
        with self._referee(lines) as peak:
            slots = tuple(range(len(spec.seats)))
            record = decode(self._launcher.play(encode(spec), slots), MatchRecord)
        return spec, Outcome(
            record=record,
            peak=Peak(referees=int(peak.read_text()) * 1024),
            left=(*self._stage.leftovers(), *map(str, self._run_dir.rglob("*"))),
            seconds=time.monotonic() - begun,
            runtime="process",
        )

    def close(self) -> None:
        """Remove everything."""
        self._stage.close()
        shutil.rmtree(self._folder)

    def _source(self, module: str, name: str) -> str:
        return self._stage.source(
            f"import sys\nsys.path.insert(0, {str(_ROOT)!r})\nfrom {module} import {name}\n{name}()\n"
        )

    @contextmanager
    def _referee(self, lines: str) -> Iterator[Path]:
        """Make referees run these lines first, and yield the file with their peak memory in KiB."""
        peak = self._folder / "peak"
        with changed_referee(self._folder, lines + _MEASURED.format(path=str(peak))):
            yield peak


@contextmanager
def changed_referee(folder: Path, lines: str) -> Iterator[None]:
    """Make referees run these lines of Python first: a script in the folder replaces their interpreter."""
    program, script = folder / "referee", folder / "referee.py"
    script.write_text(f"{lines}\nfrom arena.play.referee.__main__ import main\nmain()\n")
    program.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -I {script}\n")
    program.chmod(0o700)
    with patch("arena.play.launcher.launcher.sys", SimpleNamespace(executable=str(program))):
        yield
