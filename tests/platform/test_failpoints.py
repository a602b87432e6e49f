"""Tests of failpoints, at which tests can kill the arena."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import arena
from arena.platform.environment import FAILPOINT_VARIABLE, FAILPOINTS

REACHED = re.compile(r'\bfailpoint\("([a-z-]+)"\)')


def run(wanted: str, names: list[str]) -> "subprocess.CompletedProcess[str]":
    """Reach these failpoints in a process whose environment selects one of them."""
    code = (
        "import sys, arena.platform.environment as f\n"
        "for n in sys.argv[1:]: f.failpoint(n); print(n, flush=True)"
    )
    return subprocess.run(  # noqa: S603 - this Python
        [sys.executable, "-c", code, *names],
        env={**os.environ, FAILPOINT_VARIABLE: wanted},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_failpoint_is_in_the_code_once() -> None:
    """Every failpoint occurs exactly once in the code, and can be selected."""
    code = [path.read_text() for path in Path(arena.__path__[0]).rglob("*.py")]
    assert sorted(name for text in code for name in REACHED.findall(text)) == sorted(FAILPOINTS)


@pytest.mark.parametrize(
    ("wanted", "passed"), [("claimed", ["submitted"]), ("claimed:2", ["submitted", "claimed"])]
)
def test_the_process_dies_the_nth_time_it_reaches_a_failpoint(wanted: str, passed: list[str]) -> None:
    """The process dies immediately, without cleaning up, as if killed."""
    done = run(wanted, ["submitted", "claimed", "claimed", "submitted"])
    assert done.returncode == -signal.SIGKILL
    assert done.stdout.split() == passed


def test_without_the_variable_nothing_happens() -> None:
    """An unset or empty variable selects no failpoint."""
    assert run("", list(FAILPOINTS)).stdout.split() == list(FAILPOINTS)


@pytest.mark.parametrize("wanted", ["nowhere", "claimed:soon"])
def test_an_unknown_failpoint_is_refused(wanted: str) -> None:
    """An unknown name is refused, since a mistyped one could make a test pass."""
    done = run(wanted, ["claimed"])
    assert done.returncode == 1
    assert f"{FAILPOINT_VARIABLE}={wanted}: write NAME or NAME:COUNT" in done.stderr
