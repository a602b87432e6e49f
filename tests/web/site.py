"""The site as a process of its own, as its operator starts it."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cli import forked
from tests.demo.running import await_that

START_SECONDS = 60


@contextmanager
def served(
    data_dir: Path, *, python: str = sys.executable, cwd: Path | None = None, **settings: str
) -> Iterator["Site"]:
    """Start ``python -m web`` on a free port, wait until it listens, and end it after use.

    Args:
        data_dir: Its data.
        python: What runs it.
        cwd: Where.
        settings: Of its environment. Unless they say otherwise it logs what is wrong and no more: nobody
            reads that before the end.
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
    """A site that is visited and nothing else; ``url`` has no slash at the end.

    ``said`` returns all that it has printed on stderr, and fails when the site has ended.
    """

    url: str
    said: Callable[[], str]


@contextmanager
def opened(data_dir: Path, **settings: str) -> Iterator[Opened]:
    """Do the same for those who only visit it: much quicker, since it is forked."""
    words = ("--data-dir", str(data_dir), "--port", "0")
    found: list[str] = []

    def listens() -> bool:
        found[:] = re.findall(r"http://127\.0\.0\.1:\d+", said())
        return bool(found)

    with forked.site(words, environment() | {"ARENA_LOG_LEVEL": "warning"} | settings) as said:
        await_that(listens, "the site")
        yield Opened(found[0], said)


def environment() -> dict[str, str]:
    """Return this process's environment without the arena's settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}


class Site:
    """A running site.

    Attributes:
        url: Its address, without a slash at the end.
        process: It.
    """

    def __init__(self, url: str, process: subprocess.Popen[str]) -> None:
        self.url = url
        self.process = process
