"""Runs bots as plain child processes, without any isolation: for your own bots only."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import arena
from arena.sandbox.errors import LaunchRefused, RuntimeTrouble
from arena.sandbox.process_sandbox import ProcessSandbox
from arena.sandbox.runtime import INSTALL_LABEL, REFEREE_VARIABLE, SOCKET_NAME, SandboxSpec, nobody

BOT_FILE: Final = "bot.py"
"""What is run in a bot's folder."""

_ENTRY: Final = Path(__file__).with_name("process_entry.py")


class ProcessRuntime:
    """One child process a bot; the source is the bot's folder."""

    @property
    def describe(self) -> str:
        """See :class:`arena.sandbox.runtime.Runtime`."""
        return "process (no isolation)"

    def trouble(self) -> str | None:
        """See :class:`arena.sandbox.runtime.Runtime`; there is no engine to fail."""
        return None

    def check_source(self, source: str) -> None:
        """Make sure that the folder holds a ``bot.py``.

        Raises:
            LaunchRefused: It doesn't.
        """
        if not (Path(source) / BOT_FILE).is_file():
            raise LaunchRefused(f"there is no {BOT_FILE} in {source}; a bot's folder must hold one")

    def launch(self, spec: SandboxSpec) -> ProcessSandbox:
        """See :class:`arena.sandbox.runtime.Runtime`."""
        self.check_source(spec.source)
        home = Path(tempfile.mkdtemp(prefix=f"{_home_prefix(spec.labels[INSTALL_LABEL])}{spec.name}."))
        lifeline, held = os.pipe()
        try:
            return ProcessSandbox(_start(spec, home, lifeline), home, held)
        except BaseException as error:
            os.close(held)
            shutil.rmtree(home, ignore_errors=True)
            if isinstance(error, OSError):
                raise RuntimeTrouble(f"could not start a process for {spec.name}: {error}") from error
            raise
        finally:
            os.close(lifeline)

    def sweep(self, install: str, spare: Callable[[str], bool] = nobody) -> int:
        """Remove the home folders of processes that died with their launcher; return how many."""
        found = list(Path(tempfile.gettempdir()).glob(f"{glob.escape(_home_prefix(install))}*"))
        homes = [home for home in found if not spare(home.name.split(".")[2])]
        for home in homes:
            shutil.rmtree(home, ignore_errors=True)
        return len(homes)

    def close(self) -> None:
        """Nothing is held open."""


def _home_prefix(install: str) -> str:
    return f"kaiten.{install}."


def _start(spec: SandboxSpec, home: Path, lifeline: int) -> subprocess.Popen[bytes]:
    folder = Path(spec.source).resolve()
    return subprocess.Popen(  # noqa: S603 - the bot is the operator's own, and so is this Python
        [sys.executable, str(_ENTRY), str(lifeline), str(spec.deadline_seconds), str(folder / BOT_FILE)],
        cwd=folder,
        env=_environment(spec, home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=(lifeline,),
        start_new_session=True,
    )


def _environment(spec: SandboxSpec, home: Path) -> dict[str, str]:
    return {
        REFEREE_VARIABLE: f"unix://{spec.socket_dir / SOCKET_NAME}",
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "TMPDIR": str(home),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(Path(arena.__path__[0]).parent),  # arena.sdk as installed beside this file
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",  # a bot's folder stays as it is
    }
