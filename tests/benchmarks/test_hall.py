"""Test that a hall leaves nothing behind, however its program ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.patience import WAIT_SECONDS

PROGRAM = """
import signal
from arena.protocol.match import RuntimeName
from benchmarks.hall import open_hall

with open_hall(RuntimeName.PROCESS) as hall, hall.lone_bot() as bot:
    sandbox = hall.runtime.launch(bot)
    print("open", flush=True)
    sandbox.wait()
    signal.pause()
"""


def test_a_hall_that_is_ended_removes_its_bots_and_folders(tmp_path: Path) -> None:
    """A terminated program removes the folder with the bots' sources and sockets."""
    with subprocess.Popen(  # noqa: S603 - the program above
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        assert list(tmp_path.iterdir())
        process.terminate()
        process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []
