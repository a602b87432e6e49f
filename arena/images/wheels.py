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


def fetch_wheels(folder: Path, machine: str, target: Path, *, sources: bool = False) -> None:
    """Unpack the pinned packages for an image's Python, each checked against its hashes.

    Args:
        folder: with PINS, the lock file.
        machine: the processor, in the engine's word.
        target: the folder that is to have them.
        sources: whether those that come as source alone are built here, with the lock file's own tools.

    Raises:
        ImageTrouble: they could not be fetched.
    """
    if machine not in _MACHINES:
        raise ImageTrouble(f"There are no grpcio wheels for {machine}; known: {', '.join(_MACHINES)}")
    pins = folder / PINS
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", sys.executable]
    command += ["--target", str(target), "--python-version", _PYTHON, "--python-platform", _MACHINES[machine]]
    command += ["--build-constraints", str(pins)] if sources else ["--only-binary", ":all:"]
    command += ["--require-hashes", "--link-mode", "copy", "-r", str(pins)]
    done = subprocess.run(  # noqa: S603 - our own argument list
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ImageTrouble(
            f"uv could not fetch the packages of {pins} (is the package index reachable? is uv in this "
            f"environment? `make setup` puts it there):\n{done.stderr.strip()}"
        )
