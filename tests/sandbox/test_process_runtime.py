"""Guarantees of the process runtime that the common suite doesn't test."""

import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from arena.sandbox.runtime import LaunchRefused, RuntimeFailure
from tests.patience import WAIT_SECONDS, wait_until
from tests.sandbox.stage import ProcessStage, listening, run, spec_for

LAUNCHER = """
import os, sys, signal
from pathlib import Path
from arena.protocol.match import Limits
from arena.sandbox.runtime import SandboxSpec
from arena.sandbox.process.runtime import ProcessRuntime
spec = SandboxSpec(name="x", source=sys.argv[1], socket_dir=Path(sys.argv[2]), slot=0, limits=Limits(),
                   deadline_seconds=600,                   labels={"kaiten.install": sys.argv[3]})
sandbox = ProcessRuntime({"command": [sys.executable, *sys.argv[4:]]}).launch(spec)
signal.pause()
"""

CALL_AND_ECHO = """
import os, socket
channel = socket.socket(socket.AF_UNIX)
channel.connect(os.environ["ARENA_REFEREE"].removeprefix("unix://"))
while True:
    channel.sendall(channel.recv(1))
"""


@pytest.mark.parametrize("by_command", [False, True], ids=["folder", "command"])
def test_bots_end_with_a_launcher_that_is_killed(process_stage: ProcessStage, *, by_command: bool) -> None:
    """Bots end when their launcher is killed, and sweep removes their folders."""
    folder_of_bot = process_stage.source(CALL_AND_ECHO)
    source = "command" if by_command else folder_of_bot
    command = [f"{folder_of_bot}/bot.py"]
    with listening() as (folder, server):
        launcher = subprocess.Popen(  # noqa: S603 - the Python of this test
            [sys.executable, "-c", LAUNCHER, source, str(folder), process_stage.install, *command],
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        )
        channel, _ = server.accept()
        channel.settimeout(WAIT_SECONDS)
        with channel:
            launcher.send_signal(signal.SIGKILL)
            launcher.wait()
            assert channel.recv(1) == b""  # the bot has exited, which has closed its end
    assert process_stage.runtime.sweep(process_stage.install) == 1
    # The process that kills a command may itself exit a moment later.
    wait_until(lambda: not process_stage.leftovers(), "the end of all processes")


def test_bots_outlive_the_thread_that_launched_them(process_stage: ProcessStage) -> None:
    """A sandbox belongs to the launcher, not to one of its threads."""
    with listening() as (folder, server):
        with ThreadPoolExecutor(1) as pool:
            spec = spec_for(process_stage, process_stage.source(CALL_AND_ECHO), folder)
            sandbox = pool.submit(process_stage.runtime.launch, spec).result()
        channel, _ = server.accept()
        channel.settimeout(WAIT_SECONDS)
        with channel:
            channel.sendall(b"?")
            assert channel.recv(1) == b"?"
            sandbox.remove()  # before the connection is closed, which would end the bot too
            assert sandbox.wait().code == 137


def test_a_bot_imports_its_neighbours(process_stage: ProcessStage) -> None:
    """A bot can import other files from its folder, which writes nothing there."""
    source = process_stage.source("import neighbour, sys; sys.exit(neighbour.CODE)")
    Path(source, "neighbour.py").write_text("CODE = 5")
    with listening() as (folder, _):
        sandbox = process_stage.runtime.launch(spec_for(process_stage, source, folder))
        assert sandbox.wait().code == 5
        sandbox.remove()
    assert {path.name for path in Path(source).iterdir()} == {"bot.py", "neighbour.py"}


def test_a_bot_is_the_main_program(process_stage: ProcessStage) -> None:
    """Code below `if __name__ == "__main__"` is run, with the bot's folder as the working directory."""
    _, said = run(process_stage, "import os, sys\nif __name__ == '__main__': sys.exit(os.listdir('.'))")
    assert said == "['bot.py']\n"


def test_a_missing_folder_is_named(process_stage: ProcessStage) -> None:
    """The error for a missing folder names the folder and the missing file."""
    with pytest.raises(LaunchRefused, match=r"bot\.py.*/nowhere/at/all"):
        process_stage.runtime.check_source("/nowhere/at/all")


@pytest.mark.parametrize(("owner", "name"), [(sys, "executable"), (tempfile, "tempdir")])
def test_what_the_host_lacks_is_the_arenas_fault(
    process_stage: ProcessStage, monkeypatch: pytest.MonkeyPatch, owner: ModuleType, name: str
) -> None:
    """If no process can be started, the bot isn't blamed, and nothing is left behind."""
    with listening() as (folder, _), monkeypatch.context() as host:
        spec = spec_for(process_stage, process_stage.source("pass"), folder)
        host.setattr(owner, name, "/nowhere/at/all")
        with pytest.raises(RuntimeFailure, match="could not start a process"):
            process_stage.runtime.launch(spec)
    assert process_stage.leftovers() == []
