"""Tests of ``arena league``."""

import json
import os
from dataclasses import fields
from pathlib import Path

import pytest

from arena.protocol.leaderboard import Leaderboard, Row

from .command import arena

FIRST = "def choose(view):\n    return view.hand[0]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a folder of bots."""
    (tmp_path / "bots").mkdir()
    for name in ("one", "two"):
        (tmp_path / "bots" / f"{name}.py").write_text(FIRST)
    return tmp_path


def test_an_unreadable_file_is_reported_in_one_line(folder: Path) -> None:
    """The message blames the bot, not the league."""
    (folder / "bots" / "three").mkdir()
    (folder / "bots" / "three" / "bot.py").write_text(f"DATA = 'data'\n{FIRST}")
    (folder / "bots" / "three" / "data").symlink_to("/proc/self/mem")
    done = arena("league", "bots", "-n", "2", folder=folder)
    assert done.returncode == 2
    assert done.stderr.startswith("arena: can't read three: ")


def test_names_that_are_not_utf_8_are_escaped(folder: Path) -> None:
    """JSON can't contain them."""
    (folder / "bots" / os.fsdecode(b"b\xff.py")).write_text(FIRST)
    args = ("league", "bots", "-n", "4", "--players", "3", "--json")
    for games in (4, 8):
        done = arena(*args, folder=folder)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["games"] == games
    told = json.loads(done.stdout)
    assert {(row["bot"], row["version"]) for row in told["rows"]} == {("one", 1), ("two", 1), (r"b\xff", 1)}


def test_a_league_continues(folder: Path) -> None:
    """A second run adds games to those of the first, here with a house bot."""
    args = ("league", "bots", "--house", "expected", "--players", "2,3", "--games", "24")
    first = arena(*args, folder=folder)
    assert first.returncode == 0, first.stderr
    assert "24 games between 3 bots, recorded in bots/league.jsonl" in first.stderr
    assert "Share of games finished ahead of" in first.stdout
    told = json.loads(arena(*args, "--json", folder=folder).stdout)
    assert told["games"] == 48
    rows = told["rows"]
    assert {*told} - {field.name for field in fields(Leaderboard)} == {"games", "meetings"}
    assert all([*row] == [field.name for field in fields(Row)] for row in rows)
    assert (rows[0]["bot"], rows[0]["author"], rows[0]["house"]) == ("expected", "house", True)
    assert [row["rank_best"] <= row["rank"] <= row["rank_worst"] for row in rows] == [True] * 3
    assert [(row["change"], row["last_played"]) for row in rows] == [(None, None)] * 3
    assert len((folder / "bots" / "league.jsonl").read_bytes().splitlines()) == 1 + 3 + 48
    assert {(each["bot"], each["other"]) for each in told["meetings"]} >= {
        ("one", "two"),
        ("two", "expected"),
    }
    assert all(each["ahead"] + each["behind"] + each["tied"] == each["games"] for each in told["meetings"])
