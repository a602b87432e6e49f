"""Tests of ``arena rerun`` with replays in files. tests/cli/test_bots_online.py covers a site's games."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from arena.play.replay.document import parse
from arena.play.replay.verify import decisions

from .command import FIRST, arena

LAST = "def choose(view):\n    return view.legal_moves()[-1]\n"
RUN = "\nfrom arena.sdk import run\nrun(choose)\n"


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return two games of the bot ``first`` against a house bot."""
    folder = tmp_path_factory.mktemp("games")
    (folder / "first.py").write_text(FIRST)
    played = arena("play", "first.py", "greedy", "-n", "2", "--seed", "3", "-o", "g.jsonl", folder=folder)
    assert played.returncode == 0, played.stderr
    return (folder / "g.jsonl").read_bytes()


@pytest.fixture
def folder(tmp_path: Path, games: bytes) -> Path:
    """Return a folder with two bots and these games."""
    (tmp_path / "first.py").write_text(FIRST)
    (tmp_path / "last.py").write_text(LAST)
    (tmp_path / "g.jsonl").write_bytes(games)
    return tmp_path


def test_the_same_bot_plays_the_same(folder: Path) -> None:
    """The same bot causes no differences, and its own output is not on stdout."""
    done = arena("rerun", "g.jsonl", "first.py", folder=folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert "54 decisions in 2 games, 0 now different" in done.stderr


@pytest.mark.parametrize(
    "bot", [("last.py",), ("--bot", f"{shlex.quote(sys.executable)} run.py")], ids=["file", "program"]
)
def test_differences_are_listed(folder: Path, bot: tuple[str, ...]) -> None:
    """Each difference has hand, moves and position file. In the position, both bots repeat their moves."""
    (folder / "run.py").write_text(LAST + RUN)
    done = arena("rerun", "g.jsonl", *bot, "--of", "first@1", "--puzzles", "kept", "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    replays = [parse(line) for line in (folder / "g.jsonl").read_bytes().splitlines()]
    recorded = [
        (replay.game, each.view.round, each.view.turn, [card.label for card in each.view.hand])
        for replay in replays
        for each in decisions(replay)
        if replay.seats[each.view.seat].bot == "first"
        and each.view.legal_moves()[0] != each.view.legal_moves()[-1]
    ]
    differences = told["differences"]
    assert told["decisions"] == 54
    assert [(each["game"], each["round"], each["turn"], each["hand"]) for each in differences] == recorded
    for each in (differences[0], differences[-1]):
        again = arena("puzzle", each["puzzle"], "last.py", "--json", folder=folder)
        assert json.loads(again.stdout)["move"] == each["now"]["move"] != each["played"]
        before = arena("puzzle", each["puzzle"], "first.py", "--json", folder=folder)
        assert json.loads(before.stdout)["move"] == each["played"]


def test_a_table_has_a_row_for_each_difference(folder: Path) -> None:
    """An option adds a column with the position files."""
    done = arena("rerun", "g.jsonl", "last.py", "--of", "first", "--puzzles", "kept", folder=folder)
    head, *rows = done.stdout.splitlines()
    assert head.split() == ["game", "seat", "round", "turn", "hand", "played", "now", "puzzle"]
    assert {row.split()[-1] for row in rows} == {f"kept/{file.name}" for file in (folder / "kept").iterdir()}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def choose(view):\n    return view.missing\n", "AttributeError: "),
        ("def choose(view):\n    raise SystemExit\n", "SystemExit (bad.py"),
    ],
    ids=["exception", "exit"],
)
def test_a_failure_ends_it_with_line_and_position(folder: Path, text: str, said: str) -> None:
    """The message also has the command that puts the position to the bot again."""
    (folder / "bad.py").write_text(text)
    words = ("rerun", "g.jsonl", "bad.py", "--of", "first")
    done = arena(*words, folder=folder, XDG_CACHE_HOME=str(folder / "cache"))
    message = done.stderr
    assert done.returncode == 1
    assert "1 decision in 1 game, 1 now different" in message
    assert f"arena: bad: {said}" in message
    assert "(bad.py, line " in message
    assert "round 1, turn 1, seat 0 (2 players)" in message
    assert f"to reproduce: arena puzzle {folder}/cache/kaiten/puzzles/bad-" in message


def test_a_program_that_ends_is_reported(folder: Path) -> None:
    """The message has the program's stderr."""
    (folder / "bad.py").write_text("def choose(view):\n    raise KeyError(view.round)\n" + RUN)
    line = f"{shlex.quote(sys.executable)} bad.py"
    words = ("rerun", "g.jsonl", "--bot", line, "--of", "first")
    done = arena(*words, folder=folder, XDG_CACHE_HOME=str(folder / "cache"))
    assert done.returncode == 1
    assert "KeyError: 1" in done.stderr
    assert "now different" in done.stderr


def test_an_illegal_move_does_not_end_it(folder: Path) -> None:
    """An illegal move is a difference like any other, but the exit code is 1."""
    (folder / "bad.py").write_text(
        "from arena.sdk import Card, Move\ndef choose(view):\n    return Move((Card.WASABI,) * 2)\n"
    )
    words = ("rerun", "g.jsonl", "bad.py", "--of", "first", "--json")
    done = arena(*words, folder=folder, XDG_CACHE_HOME=str(folder / "cache"))
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert (told["decisions"], len(told["differences"])) == (54, 54)
    assert "illegal: " in told["differences"][0]["now"]["trouble"]


def test_ctrl_c_prints_the_differences_so_far(folder: Path) -> None:
    """Ctrl-C prints the differences so far. The exit code is 130."""
    # The bot itself sends the signal, so that it can't answer first.
    (folder / "slow.py").write_text(
        "import os, signal\ndef choose(view):\n    if view.turn == 3:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n    return view.legal_moves()[-1]\n"
    )
    done = arena("rerun", "g.jsonl", "slow.py", "--of", "first", folder=folder)
    assert done.returncode == 130
    assert len(done.stdout.splitlines()) == 3
    assert "stopped; 2 decisions in 1 game, 2 now different" in done.stderr
