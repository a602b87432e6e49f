"""Fetches images' pinned packages, and checks each against its hash."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final


class FetchFailed(Exception):
    """Packages could not be fetched. The message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Packages:
    """A base image's packages from one package manager.

    ``fetch`` takes the recipe's folder, which contains ``pins``; the image's architecture, such as ``amd64``;
    and an existing folder, in which it creates a subfolder. It raises FetchFailed.
    """

    pins: tuple[str, ...]
    fetch: Callable[[Path, str, Path], None]


PINS: Final = "requirements.lock"

_PYTHON: Final = "3.11"
_WHEELS: Final = {  # an architecture's name in images: the platform of its wheels
    "amd64": "x86_64-manylinux_2_28",
    "arm64": "aarch64-manylinux_2_28",
}


def fetch_wheels(
    folder: Path, architecture: str, target: Path, *, pins: str = PINS, tools: Path | None = None
) -> None:
    """Install the pinned packages for an image's Python, and check each against its hashes.

    ``folder`` contains the lock file ``pins``; ``architecture`` is the image's, such as ``amd64``. ``tools``
    is the lock file of the build tools for packages without a wheel; None if all packages have wheels.
    Raises FetchFailed.
    """
    if architecture not in _WHEELS:
        raise FetchFailed(
            f"images can't be built for the architecture {architecture}: use a host with "
            f"{' or '.join(_WHEELS)}"
        )
    lock = folder / pins
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", sys.executable]
    command += ["--target", str(target), "--python-version", _PYTHON]
    command += ["--python-platform", _WHEELS[architecture]]
    command += ["--build-constraints", str(tools)] if tools else ["--only-binary", ":all:"]
    command += ["--require-hashes", "--link-mode", "copy", "-r", str(lock)]
    done = subprocess.run(  # noqa: S603 - our own argument list
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise FetchFailed(
            f"uv could not fetch the packages in {lock} (is the package index reachable? is uv in this "
            f"environment? `make setup` installs it):\n{done.stderr.strip()}"
        )


def wheels(*patterns: str) -> Packages:
    """Return the packages that requirements.lock pins; they are fetched into ``wheels``.

    Only files and folders that match ``patterns`` are kept; without patterns, all are.
    """
    return Packages((PINS,), partial(_fetch_matching, patterns or ("*",)))


def _fetch_matching(patterns: tuple[str, ...], folder: Path, architecture: str, target: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="kaiten-wheels-") as name:
        fetched = Path(name, "wheels")
        fetch_wheels(folder, architecture, fetched)
        for path in (found for pattern in patterns for found in fetched.glob(pattern)):
            kept = target / "wheels" / path.relative_to(fetched)
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(path, kept)


NPM_PINS: Final = ("package.json", "package-lock.json")

_NPM_OPTIONS: Final = ("--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")


def fetch_modules(folder: Path, target: Path) -> None:
    """Install a folder's pinned npm packages, and check each against its hash.

    The packages run on any architecture. Raises FetchFailed.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise FetchFailed(
            f"fetching the packages for {folder} requires npm, which is not installed. On Debian or Ubuntu, "
            "run: sudo apt-get install npm. Or build the image in a checkout on the engine's host: "
            ".venv/bin/python -m arena.images.build LANGUAGE"
        )
    with tempfile.TemporaryDirectory(prefix="kaiten-npm-") as name:
        for pin in NPM_PINS:
            shutil.copy(folder / pin, name)
        done = subprocess.run(  # noqa: S603 - our own argument list
            [npm, "ci", *_NPM_OPTIONS, "--loglevel=error"],
            cwd=name,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise FetchFailed(
                f"npm could not fetch the packages for {folder} (is the registry reachable?):\n"
                f"{done.stderr.strip()}"
            )
        shutil.move(Path(name, "node_modules"), target)


NPM_MODULES: Final = Packages(
    NPM_PINS, lambda folder, _architecture, target: fetch_modules(folder, target / "node_modules")
)
"""The packages that package-lock.json pins; they are fetched into ``node_modules``."""
