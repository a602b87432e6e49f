"""Tests of ``arena up`` and ``arena coordinator``, an arena with and without a site, until a signal."""

import os
import signal
import sqlite3
import urllib.request
from contextlib import closing, suppress
from pathlib import Path

from tests.demo.conftest import With
from tests.demo.running import Place, processes_of, started
from tests.patience import WAIT_SECONDS, wait_until
from tests.ports import free_port

PROCESS = {"ARENA_SANDBOX": "process"}


def matches(place: Place, condition: str) -> int:
    """Return the number of matches, or 0 if their table doesn't exist yet."""
    with closing(sqlite3.connect(place.data / "arena.sqlite3", timeout=WAIT_SECONDS)) as database:
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'match'").fetchone():
            return 0
        (count,) = database.execute(f"SELECT count(*) FROM match WHERE {condition}").fetchone()  # noqa: S608 - a test's
        return int(count)


def page(address: str) -> bytes:
    """Return a page of the site, or nothing if the site isn't served yet."""
    with suppress(OSError), urllib.request.urlopen(address, timeout=60) as answer:  # noqa: S310 - our own site
        return bytes(answer.read())
    return b""


def site_of(arena: int) -> int:
    """Return the process id of an arena's site."""
    [site] = [child for child in children_of(arena) if b"\0web\0" in command_of(child)]
    return site


def children_of(process: int) -> list[int]:
    """Return the process ids of the children of a process's first thread."""
    return list(map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split()))


def command_of(process: int) -> bytes:
    """Return a process's command line, or nothing if the process has ended."""
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes()
    return b""


def test_running_matches_are_finished_before_it_stops(place_with: With) -> None:
    """After SIGTERM, no match starts, and running ones are finished."""
    place = place_with("greedy", "random")
    port = free_port()
    with started(place, "up", **PROCESS, ARENA_PORT=str(port)) as arena:
        wait_until((place.data / "arena.sqlite3").exists, "the database")
        wait_until(lambda: b"greedy" in page(f"http://127.0.0.1:{port}/leaderboard"), "the site")
        wait_until(lambda: matches(place, "state = 'running'") > 0, "a match")
        arena.send_signal(signal.SIGTERM)
        _, said = arena.communicate(timeout=WAIT_SECONDS)
    assert arena.returncode == 0, said
    assert "nothing is left running" in said
    assert matches(place, "state = 'running'") == matches(place, "state = 'waiting' AND attempt > 0") == 0
    assert processes_of(place) == []


def test_a_second_signal_does_not_wait(place_with: With) -> None:
    """A second signal aborts and requeues running matches."""
    place = place_with("greedy", "random")
    with started(place, "up", **PROCESS, ARENA_PORT=str(free_port())) as arena:
        wait_until((place.data / "arena.sqlite3").exists, "the database")
        wait_until(lambda: matches(place, "state = 'running'") > 0, "a match")
        arena.send_signal(signal.SIGTERM)
        arena.send_signal(signal.SIGINT)
        _, said = arena.communicate(timeout=WAIT_SECONDS)
    assert arena.returncode == 0, said
    assert matches(place, "state = 'running'") == 0
    assert processes_of(place) == []


def test_without_its_site_it_stops(place_with: With) -> None:
    """If the site dies, the arena finishes running matches and stops with exit code 1."""
    place = place_with("greedy", "random")
    with started(place, "up", **PROCESS, ARENA_PORT=str(free_port())) as arena:
        wait_until((place.data / "arena.sqlite3").exists, "the database")
        wait_until(lambda: matches(place, "state = 'running'") > 0, "a match")
        os.kill(site_of(arena.pid), signal.SIGKILL)
        _, said = arena.communicate(timeout=WAIT_SECONDS)
    assert arena.returncode == 1, said
    assert "the site stopped with exit code -9" in said
    assert matches(place, "state = 'running'") == matches(place, "state = 'waiting' AND attempt > 0") == 0
    assert processes_of(place) == []
