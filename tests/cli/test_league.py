"""``arena league``."""

import json
from pathlib import Path

import pytest

from .command import arena

FIRST = "def choose(view):\n    return view.hand[0]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with a folder of bots."""
    (tmp_path / "bots").mkdir()
    for name in ("one", "two"):
        (tmp_path / "bots" / f"{name}.py").write_text(FIRST)
    return tmp_path


def test_a_league_goes_on(folder: Path) -> None:
    """With house bots; the second run adds games to the first."""
    args = ("league", "bots", "--house", "expected", "--players", "2,3", "--games", "24")
    first = arena(*args, folder=folder)
    assert first.returncode == 0, first.stderr
    assert b"24 games of 3 bots in bots/league.jsonl" in first.stderr
    assert b"Share of games finished ahead of" in first.stdout
    told = json.loads(arena(*args, "--json", folder=folder).stdout)
    assert told["games"] == 48
    assert told["standings"][0]["bot"] == "expected"
    assert len((folder / "bots" / "league.jsonl").read_bytes().splitlines()) == 1 + 3 + 48
    assert {(each["bot"], each["other"]) for each in told["meetings"]} >= {
        ("one", "two"),
        ("two", "expected"),
    }


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("none",), "no such folder: none"),
        (("empty",), "too few bots in empty: 0 found, 2 needed. Add house bots with --house"),
        (("bots", "--house", "gredy"), "no bot is called 'gredy'. Did you mean greedy?"),
        (("bots", "--house", "one"), "a bot in bots has the name of the house bot one: rename it"),
        (("bots", "--players", "9"), "9 players: Sushi Go! is for 2 to 5"),
        (("bots", "--results", "bots/one.py"), "bots/one.py is not a league's file"),
        (("bots", "--results", "no/where"), "can't use no/where: "),
        (("bad", "--players", "2"), "can't be loaded: SyntaxError"),
    ],
    ids=range(8),
)
def test_rubbish_is_refused_in_a_sentence(folder: Path, args: tuple[str, ...], said: str) -> None:
    """With the exit code for bad input."""
    (folder / "empty").mkdir()
    (folder / "bad").mkdir()
    for name in ("a", "b"):
        (folder / "bad" / f"{name}.py").write_text("def choose(view: return")
    done = arena("league", *args, folder=folder)
    message = done.stderr.decode()
    assert done.returncode == 2
    assert message.startswith("arena: ")
    assert message.count("\n") == 1
    assert said in message
    assert (folder / "bots" / "one.py").read_text() == FIRST
