"""Tests of runs without Docker, Chromium and PostgreSQL: only the tests that need them are skipped."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import missing
from tests.soak import SOAK

_ROOT = Path(__file__).parents[2]
_HIDE = """
for program in "$@"; do mount --bind /dev/null "$program"; done
[ ! -e /var/run/docker.sock ] || mount --bind /dev/null /var/run/docker.sock
[ ! -d /usr/lib/postgresql ] || mount -t tmpfs none /usr/lib/postgresql
exec "$PYTHON" -m pytest -q -p no:cacheprovider -m "docker or chromium or postgresql" $TESTS
"""
_SOME = "tests/browser/test_axe.py tests/db tests/host"
"""The tests of a short run, since importing all tests takes most of the time."""
_PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "initdb")


@pytest.mark.usefixtures("root")
def test_tests_that_lack_a_part_are_skipped_and_summed_up() -> None:
    """A run without the parts passes. For each part, a line has the number of tests and what to install."""
    programs = [found for name in _PROGRAMS if (found := shutil.which(name))]
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in {"CI", "DOCKER_HOST", "SOAK"} and not name.startswith("PYTEST_")
    }
    done = subprocess.run(  # noqa: S603 - our own tests
        ["unshare", "--mount", "sh", "-euc", _HIDE, "sh", *programs],  # noqa: S607 - on PATH
        cwd=_ROOT,
        env=kept | {"PYTHON": sys.executable, "TESTS": "tests" if SOAK else _SOME},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    skipped = dict(re.findall(r"^SKIPPED \d+ tests: (\S+ \S+).*\((.*)\)$", done.stdout, re.MULTILINE))
    assert skipped == {
        "no Docker": "run scripts/engine as root",
        "Chromium is": "apt-get install chromium",
        "PostgreSQL's programs": "apt-get install postgresql",
    }


def test_a_missing_part_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """In CI, a test that lacks a part fails."""
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=r"CI must not skip: no engine \(start one\)"):
        missing("no engine", "start one")
