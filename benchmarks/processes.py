"""Arenas and sites in separate processes, for benchmarks that measure them from the outside."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.db.store import Store, open_store

_TIMEOUT_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class RunningArena:
    """An arena whose house bots are playing."""

    store: Store
    environment: dict[str, str]  # for its commands and its site


@contextmanager
def run_arena(**settings: str) -> Iterator[RunningArena]:
    """Run an arena with these settings in a new folder; yield it once a game has been played."""
    folder = Path(tempfile.mkdtemp(prefix="kaiten-b-"))  # short: a socket's path has at most 107 bytes
    environment = {
        **os.environ,
        "ARENA_DATA_DIR": str(folder / "data"),
        "ARENA_RUN_DIR": str(folder / "run"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        **settings,
    }
    file = folder / "data" / "arena.sqlite3"
    try:
        with _run_python(environment, "-m", "arena", "coordinator"):
            wait_until(file.exists, "a database")
            with closing(open_store(f"sqlite:///{file}")) as store:
                wait_until(lambda: store.activity.totals().games > 0, "a game between house bots")
                yield RunningArena(store, environment)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def run_site(environment: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Run a site; yield its process ID and its address."""
    with _run_python(environment, "-m", "web", "--port", "0", stderr=subprocess.PIPE) as process:
        address = _address_of(process)
        if address is None:
            sys.exit("the site did not start: run `python -m web` to see why")
        yield process.pid, address


def exit_on_sigterm() -> None:
    """Make SIGTERM end this program as Ctrl-C does, so that it leaves nothing behind."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait until a condition holds; exit after ten minutes."""
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"{what} did not appear within {_TIMEOUT_SECONDS:.0f} s")
        time.sleep(0.05)


@contextmanager
def _run_python(
    environment: dict[str, str], *words: str, stderr: int = subprocess.DEVNULL
) -> Iterator[subprocess.Popen[str]]:
    """Run Python in another process, and end it on exit."""
    exit_on_sigterm()
    with subprocess.Popen(  # noqa: S603 - our own commands
        [sys.executable, *words], env=environment, stderr=stderr, text=True
    ) as process:
        try:
            yield process
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=60)
            process.kill()


def _address_of(site: "subprocess.Popen[str]") -> str | None:
    """Return the address of a started site once it is serving, or None if it has exited.

    After that, the site's log is read and discarded, so that the site never waits for a reader.
    """
    for line in site.stderr or ():
        if found := re.search(r"http://[\w.:]+", line):
            threading.Thread(target=_discard, args=(site,), daemon=True).start()
            return found[0]
    return None


def _discard(site: "subprocess.Popen[str]") -> None:
    for _ in site.stderr or ():
        pass
