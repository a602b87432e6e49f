"""The site as a separate process, started as an operator would start it."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cli import forked
from tests.patience import wait_until


@contextmanager
def served(
    data_dir: Path, *, python: str = sys.executable, cwd: Path | None = None, **settings: str
) -> Iterator["Site"]:
    """Start ``python -m web`` on a free port, wait until it listens, and kill it after use.

    ``settings`` are environment variables. By default the site logs only warnings and errors, since its
    output isn't read while it is running.
    """
    process = subprocess.Popen(  # noqa: S603 - our own argument list
        [python, "-m", "web", "--data-dir", str(data_dir), "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=environment() | {"ARENA_LOG_LEVEL": "warning"} | settings,
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert found, line + process.stderr.read()
        yield Site(found[0], process)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stderr.close()


@dataclass(frozen=True, slots=True)
class Opened:
    """A forked site; ``url`` has no trailing slash.

    ``said`` returns all that the site has printed to stderr, and fails if the site has exited.
    """

    url: str
    said: Callable[[], str]


@contextmanager
def opened(data_dir: Path, **settings: str) -> Iterator[Opened]:
    """Like :func:`served`, but much faster, because it forks. Use it unless the test needs the process."""
    words = ("--data-dir", str(data_dir), "--port", "0")
    found: list[str] = []

    def listens() -> bool:
        found[:] = re.findall(r"http://127\.0\.0\.1:\d+", said())
        return bool(found)

    with forked.site(words, environment() | {"ARENA_LOG_LEVEL": "warning"} | settings) as said:
        wait_until(listens, "the site")
        yield Opened(found[0], said)


def environment() -> dict[str, str]:
    """Return this process's environment without the arena's settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}


@dataclass(frozen=True, slots=True)
class Site:
    """The process of a running site; ``url`` has no trailing slash."""

    url: str
    process: subprocess.Popen[str]
