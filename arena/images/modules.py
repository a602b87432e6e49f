"""Fetches npm's packages that go into an image, so that its build needs no network."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from arena.images.errors import ImageTrouble

PINS = ("package.json", "package-lock.json")

_OPTIONS = ("--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")


def fetch_modules(folder: Path, _machine: str, target: Path) -> None:
    """Unpack the pinned packages of a folder, each checked against its hash. They suit every processor.

    Args:
        folder: with PINS.
        target: the folder that is to have them.

    Raises:
        ImageTrouble: they could not be fetched.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise ImageTrouble(
            "npm fetches the packages of the base image of bots in JavaScript, and it is not installed. On "
            "Debian or Ubuntu run: sudo apt-get install npm. Or make the image from a checkout on the "
            "engine's host: .venv/bin/python -m arena.images javascript"
        )
    with tempfile.TemporaryDirectory(prefix="kaiten-npm-") as name:
        for pin in PINS:
            shutil.copy(folder / pin, name)
        done = subprocess.run(  # noqa: S603 - our own argument list
            [npm, "ci", *_OPTIONS, "--loglevel=error"],
            cwd=name,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise ImageTrouble(
                f"npm could not fetch the packages of {folder} (is the registry reachable?):\n"
                f"{done.stderr.strip()}"
            )
        shutil.move(Path(name, "node_modules"), target)
