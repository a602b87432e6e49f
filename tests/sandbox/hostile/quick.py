"""Plays attacks with plain processes and a real referee: for what the channel alone has to hold."""

import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Final
from unittest.mock import patch

from arena.play.launcher.launcher import Launcher
from arena.protocol.match import Clock, Limits, MatchRecord, MatchSpec, RuntimeName, decode, encode
from arena.rules import Rules
from tests.sandbox.hostile import bot
from tests.sandbox.hostile.attack import Attack, Outcome, Peak
from tests.sandbox.stage import ProcessStage

_ROOT: Final = Path(__file__).parents[3]

_MEASURED: Final = """
from arena.play.referee.conductor import Conductor
peak, run = open({path!r}, "w"), Conductor.run
async def measured(self):
    await run(self)
    # Not ru_maxrss, which counts what the process was before it began this program.
    print(open("/proc/self/status").read().split("VmHWM:")[1].split()[0], file=peak, flush=True)
Conductor.run = measured
from arena.play.referee.__main__ import main
main()
"""


class QuickStage:
    """A launcher of plain processes."""

    def __init__(self) -> None:
        self._stage = ProcessStage()
        self._folder = Path(tempfile.mkdtemp(prefix="kaiten-q-"))  # short: an address holds 107 bytes
        self._folder.chmod(0o711)
        self._run_dir = self._folder / "run"
        self._launcher = Launcher(self._stage.runtime, self._stage.install, self._run_dir)

    def play(self, attack: Attack, clock: Clock, *, control: bool) -> tuple[MatchSpec, Outcome]:
        """Play an attack beside an honest bot, with its control or without."""
        module, name = attack.program.__module__, attack.program.__name__
        spec = MatchSpec(
            match="hostile",
            attempt=1,
            rules=Rules(players=2),
            seeds=("5" * 32,),
            seats=(self._source(module, name), self._source(bot.__name__, "honest")),
            clock=clock if control else attack.control.clock or clock,
            limits=Limits(),
            runtime=RuntimeName.PROCESS,
        )
        begun = time.monotonic()
        with self._referee("" if control else attack.control.referee or "") as peak:
            record = decode(self._launcher.play(encode(spec), (0, 1)), MatchRecord)
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
        """Let referees begin with these lines, and write down their most memory in KiB."""
        peak, program, script = (self._folder / name for name in ("peak", "referee", "referee.py"))
        script.write_text(lines + _MEASURED.format(path=str(peak)))
        program.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -I {script}\n")
        program.chmod(0o700)
        with patch("arena.play.launcher.launcher.sys", SimpleNamespace(executable=str(program))):
            yield peak
