"""Tests of ``arena up`` that is stopped by two signals, or by the end of its site."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from tests.demo.conftest import With
from tests.demo.running import processes_of, started
from tests.patience import WAIT_SECONDS, wait_until
from tests.ports import free_port

PROCESS = {"ARENA_SANDBOX": "process"}


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


@pytest.mark.parametrize("signals", [(signal.SIGINT,), (signal.SIGTERM, signal.SIGINT)])
def test_ctrl_c_or_a_second_signal_does_not_wait(
    place_with: With, signals: tuple[signal.Signals, ...]
) -> None:
    """Ctrl-C, or a second signal, aborts and requeues running matches."""
    place = place_with("greedy", "random")
    with started(place, "up", **PROCESS, ARENA_PORT=str(free_port())) as arena:
        wait_until((place.data / "arena.sqlite3").exists, "the database")
        wait_until(lambda: place.matches("state = 'running'") > 0, "a match")
        for each in signals:
            arena.send_signal(each)
        _, said = arena.communicate(timeout=WAIT_SECONDS)
    assert arena.returncode == 0, said
    assert place.matches("state = 'running'") == 0
    assert processes_of(place) == []


def test_without_its_site_it_stops(place_with: With) -> None:
    """If the site dies, the arena finishes running matches and stops with exit code 1."""
    place = place_with("greedy", "random")
    with started(place, "up", **PROCESS, ARENA_PORT=str(free_port())) as arena:
        wait_until((place.data / "arena.sqlite3").exists, "the database")
        wait_until(lambda: place.matches("state = 'running'") > 0, "a match")
        os.kill(site_of(arena.pid), signal.SIGKILL)
        _, said = arena.communicate(timeout=WAIT_SECONDS)
    assert arena.returncode == 1, said
    assert "the site stopped with exit code -9" in said
    assert place.matches("state = 'running'") == place.matches("state = 'waiting' AND attempt > 0") == 0
    assert processes_of(place) == []
