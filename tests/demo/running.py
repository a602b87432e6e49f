"""Start commands in their own data directory, and find what they leave behind."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from tests.cli import forked
from tests.patience import WAIT_SECONDS


def client_of(address: str, **headers: str) -> httpx2.Client:
    """Return a client without persistent connections: a server may close an idle one as a request arrives."""
    limits = httpx2.Limits(max_keepalive_connections=0)
    return httpx2.Client(base_url=address, headers=headers, timeout=WAIT_SECONDS, limits=limits)


@dataclass(frozen=True, slots=True)
class Place:
    """A data directory and a folder for sockets."""

    data: Path
    sockets: Path
    checkout: Path = Path(__file__).parents[2]  # the folder of the program that `started` starts

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment variables for a command in this place.

        Unless ``more`` says otherwise, the command logs only warnings, since nobody reads the log before the
        end. Nor does it analyse games, which would use all idle processor time.
        """
        return {
            **os.environ,
            "ARENA_DATA_DIR": str(self.data),
            "ARENA_RUN_DIR": str(self.sockets),
            "ARENA_LOG_LEVEL": "warning",
            "ARENA_ANALYSIS_PLAYOUTS": "0",
            **more,
        }

    def run(self, *arguments: str, **more: str) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end."""
        return forked.run(arguments, Path.cwd(), self.environment(**more))

    def board(self) -> list[dict[str, Any]]:
        """Return the leaderboard as the command prints it."""
        rows: list[dict[str, Any]] = json.loads(self.run("leaderboard", "--json").stdout)["rows"]
        return rows

    def matches(self, condition: str) -> int:
        """Return the number of matches, or 0 if their table doesn't exist yet."""
        with closing(sqlite3.connect(self.data / "arena.sqlite3", timeout=WAIT_SECONDS)) as database:
            if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'match'").fetchone():
                return 0
            (count,) = database.execute(f"SELECT count(*) FROM match WHERE {condition}").fetchone()  # noqa: S608 - a test's
            return int(count)

    def check_ratings(self, **settings: str) -> None:
        """Check that a rebuild from the log gives exactly the stored ratings."""
        rebuilt = self.run("admin", "rebuild-ratings", **settings)
        assert rebuilt.returncode == 0, rebuilt.stderr
        assert rebuilt.stdout.endswith(", 0 ratings differed\n")

    @property
    def install(self) -> str:
        """The installation's id, or an empty string if it has none yet."""
        file = self.data / "install"
        return file.read_text().strip() if file.exists() else ""


@contextmanager
def started(place: Place, *arguments: str, **more: str) -> Iterator[subprocess.Popen[str]]:
    """Start a command of the arena, and kill it at the end if it is still running."""
    with program(place, sys.executable, "-m", "arena", *arguments, **more) as process:
        yield process


@contextmanager
def program(place: Place, *words: str, **more: str) -> Iterator[subprocess.Popen[str]]:
    """Start a program in the checkout, and kill it at the end if it is still running."""
    with subprocess.Popen(  # noqa: S603 - our own command
        words,
        cwd=place.checkout,
        env=place.environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def children() -> set[int]:
    """Return the ids of this process's children."""
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # the thread has ended
            found |= {int(pid) for pid in (task / "children").read_text().split()}
    return found


def processes_of(place: Place) -> list[str]:
    """Return the command lines of all processes that use this place."""
    mark = f"ARENA_DATA_DIR={place.data}".encode()
    socket_mark = str(place.sockets).encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes()
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if mark in environment.split(b"\0") or socket_mark in environment:
            found.append(command.replace(b"\0", b" ").decode(errors="replace"))
    return found
