"""Tests of ``arena compare``."""

import json
import os
from pathlib import Path

import pytest

from .command import FIRST, arena


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a bot that plays the first card and prints nothing."""
    (tmp_path / "first.py").write_text(FIRST.replace('print("thinking")', "pass"))
    return tmp_path


def test_a_better_bot_is_found(folder: Path) -> None:
    """A better bot is found at several table sizes, and the exit code is 0."""
    done = arena("compare", "expected", "first.py", "--players", "2,3", "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["verdict"] == "better"
    assert told["difference"] > told["within"]
    assert told["games"] == 2 * told["deals"] < 1000


def test_a_bot_is_not_better_than_itself(folder: Path) -> None:
    """For equal bots, the report shows no difference. A worse bot is reported as worse."""
    same = arena("compare", "first.py", "first.py", folder=folder)
    assert same.returncode == 1
    assert "first is not better than first#2 by 5 percentage points or more" in same.stdout
    worse = arena("compare", "random", "expected", "--field", "first.py", "--players", "3", folder=folder)
    assert worse.returncode == 1
    assert "random is worse than expected" in worse.stdout


def test_results_next_to_the_bot_are_continued(folder: Path) -> None:
    """A bot's results and other output in its folder, whatever their names, are not part of its code."""
    (folder / "bot.py").write_text((folder / "first.py").read_text())
    args = ("compare", "bot.py", "first.py", "--results", "bot.jsonl")
    for games in ("2", "4"):
        done = arena(*args, "-n", games, folder=folder)
        assert done.returncode == 1, done.stderr
        (folder / os.fsdecode(b"\xff.txt")).touch()
    assert "continuing; deals so far: 1" in done.stderr


def test_stored_results_are_continued(folder: Path) -> None:
    """The second run plays only the missing games, and is refused if a bot has changed."""
    args = ("compare", "expected", "first.py", "--results", "r.jsonl", "--json")
    part = arena(*args, "-n", "40", folder=folder)
    assert (part.returncode, json.loads(part.stdout)["verdict"]) == (1, "open")
    # A run that ended before its first result has left only the header.
    header, *_ = (folder / "r.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "header.jsonl").write_bytes(header)
    for deals in (1, 2):
        resumed = arena(*args[:4], "header.jsonl", "--json", "-n", str(2 * deals), folder=folder)
        assert json.loads(resumed.stdout)["deals"] == deals
    whole = arena(*args, folder=folder)
    assert "continuing; deals so far: 20" in whole.stderr
    seed = json.loads(whole.stdout)["seed"]
    once = arena(*args[:3], "--json", "--seed", str(seed), folder=folder)
    assert json.loads(once.stdout) == json.loads(whole.stdout)
    (folder / "first.py").write_text("def choose(view):\n    return view.hand[-1]\n")
    changed = arena(*args, folder=folder)
    assert changed.returncode == 2
    assert "r.jsonl has results for a different version of a bot" in changed.stderr
