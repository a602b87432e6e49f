"""Fetches the packages that go into an image, so that its build needs no network."""

import subprocess
import sys
from pathlib import Path

from arena.images.errors import ImageTrouble

PINS = "requirements.lock"

_PYTHON = "3.11"
_MACHINES = {  # the engine's word for its processor: the name of its wheels
    "x86_64": "x86_64-manylinux_2_28",
    "aarch64": "aarch64-manylinux_2_28",
}


def fetch_wheels(
    folder: Path, machine: str, target: Path, *, pins: str = PINS, tools: Path | None = None
) -> None:
    """Unpack the pinned packages for an image's Python, each checked against its hashes.

    Args:
        folder: with the lock file.
        machine: the processor, in the engine's word.
        target: the folder that is to have them.
        pins: the lock file's name.
        tools: the lock file of what builds those that come as source alone; None where none does.

    Raises:
        ImageTrouble: they could not be fetched.
    """
    if machine not in _MACHINES:
        raise ImageTrouble(f"There are no grpcio wheels for {machine}; known: {', '.join(_MACHINES)}")
    lock = folder / pins
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", sys.executable]
    command += ["--target", str(target), "--python-version", _PYTHON, "--python-platform", _MACHINES[machine]]
    command += ["--build-constraints", str(tools)] if tools else ["--only-binary", ":all:"]
    command += ["--require-hashes", "--link-mode", "copy", "-r", str(lock)]
    done = subprocess.run(  # noqa: S603 - our own argument list
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ImageTrouble(
            f"uv could not fetch the packages of {lock} (is the package index reachable? is uv in this "
            f"environment? `make setup` puts it there):\n{done.stderr.strip()}"
        )
