"""Tests of ``arena play`` and ``arena puzzle``."""

import json
import shlex
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from arena.play.replay.document import parse
from arena.play.replay.verify import verify
from arena.protocol.challenges import Entrant
from tests.cli.forked import started

from .command import DICE, FIRST, LOOP, arena, bot, environment


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with bots as files and as a folder."""
    bot(tmp_path, "dice", DICE)
    (tmp_path / "first.py").write_text(FIRST)
    return tmp_path


def test_results_are_a_table(folder: Path) -> None:
    """Bots can be files or folders. The printed seed gives the same games again, with the same variants."""
    words = ("play", "first.py", "./dice", "-n", "20", "--dummy", "--soy-sauce", "--pass-both-ways")
    drawn = arena(*words, folder=folder)
    assert drawn.returncode == 0, drawn.stderr
    head, *rows = drawn.stdout.splitlines()
    assert head.split()[:3] == ["bot", "wins", "beaten"]
    assert {row.split()[0] for row in rows} == {"first", "dice"}
    seed = drawn.stderr.split()[-1]
    told = json.loads(arena(*words, "--seed", seed, "--json", folder=folder).stdout)
    assert told["rules"] == {"players": 2, "pass_both_ways": True, "soy_sauce": True, "dummy": True}
    assert (told["games"], told["seed"], told["mistakes"]) == (20, int(seed), [])
    assert {field.name for field in fields(Entrant)} - {*told["bots"][0]} == {"version"}
    assert {each["bot"]: str(each["wins"]) for each in told["bots"]} == {
        row.split()[0]: row.split()[1] for row in rows
    }


def test_games_are_recorded_as_those_of_simulate(folder: Path) -> None:
    """Replays are in order, with times. House bots and copies of a bot have their own names."""
    done = arena(
        "play", "greedy", "./dice", "first.py", "first.py", "-n", "8", "-o", "g.jsonl", folder=folder
    )
    assert done.returncode == 0, done.stderr
    replays = [parse(line) for line in (folder / "g.jsonl").read_bytes().splitlines()]
    assert len(replays) == 8
    assert all(verify(replay) is None for replay in replays)
    assert [seat.bot for seat in replays[0].seats] == ["greedy", "dice", "first", "first#2"]
    assert [seat.bot for seat in replays[1].seats] == ["first#2", "greedy", "dice", "first"]
    assert replays[0].seed == replays[3].seed != replays[4].seed
    assert replays[0].turns[0].millis is not None


def test_replays_on_stdout_are_alone(folder: Path) -> None:
    """Replays on stdout aren't mixed with a table."""
    done = arena("play", "first.py", "./dice", "-n", "2", "--seed", "1", "-o", "-", folder=folder)
    assert done.returncode == 0, done.stderr
    assert [parse(line).game for line in done.stdout.splitlines()] == ["play-1-0", "play-1-1"]


def test_the_command_that_reproduces_an_error_works(folder: Path) -> None:
    """The printed command works even if the bot's file name contains a space."""
    (folder / "my bot.py").write_text("def choose(view):\n    return 1 / 0\n")
    cache = str(folder / "my cache")
    done = arena("play", "my bot.py", "first.py", "-n", "1", folder=folder, XDG_CACHE_HOME=cache)
    (line,) = (line for line in done.stderr.splitlines() if "to reproduce: " in line)
    words = shlex.split(line.partition("to reproduce: ")[2])
    again = arena(*words[1:], folder=folder, XDG_CACHE_HOME=cache)
    assert again.returncode == 1
    assert "arena: my bot: ZeroDivisionError: " in again.stderr


def test_an_error_is_reported_with_line_and_position(folder: Path) -> None:
    """An error is reported once, with a file that puts its position to this or another bot."""
    text = "WORTH = {}\ndef choose(view):\n    return max(view.hand, key=lambda card: WORTH[card])\n"
    (folder / "bad.py").write_text(text)
    args = ("play", "bad.py", "first.py", "-n", "6", "--json")
    done = arena(*args, folder=folder, XDG_CACHE_HOME=str(folder / "cache"))
    message = done.stderr
    assert done.returncode == 1
    assert "arena: bad: crash in game 0: KeyError: " in message
    assert 'bad.py", line 3, in choose' in message
    assert "round 1, turn 1, seat 0 (2 players)" in message
    (mistake,) = json.loads(done.stdout)["mistakes"]
    assert mistake["where"].startswith("bad.py, line 3")
    assert Path(mistake["puzzle"]).parent == folder / "cache" / "kaiten" / "puzzles"
    again = arena("puzzle", mistake["puzzle"], "bad.py", folder=folder)
    assert again.returncode == 1
    assert "arena: bad: KeyError: " in again.stderr
    other = arena("puzzle", mistake["puzzle"], "greedy", "--json", folder=folder)
    assert other.returncode == 0
    assert json.loads(other.stdout)["trouble"] is None


def test_a_position_is_put_to_a_program(folder: Path) -> None:
    """The command in the message of `arena play` works for programs in any language."""
    run = "\nfrom arena.sdk import run\nrun(choose)\n"
    (folder / "bad.py").write_text("def choose(view):\n    raise KeyError(view.round)\n" + run)
    line = f"{shlex.quote(sys.executable)} bad.py"
    done = arena(
        "play", "first.py", "--bot", line, "-n", "1", "--json", folder=folder, XDG_CACHE_HOME="cache"
    )
    assert done.returncode == 1
    (mistake,) = json.loads(done.stdout)["mistakes"]
    assert f"arena puzzle {mistake['puzzle']} --bot {shlex.quote(line)}" in done.stderr
    again = arena("puzzle", mistake["puzzle"], "--bot", line, "--json", folder=folder)
    assert again.returncode == 1
    assert "the bot exited" in json.loads(again.stdout)["trouble"]
    assert "KeyError: 1" in again.stderr


def test_an_endless_loop_ends_the_run(folder: Path) -> None:
    """Three timeouts in a game end the run. The other bot's results are printed."""
    (folder / "loop.py").write_text(LOOP)
    done = arena("play", "loop.py", "first.py", folder=folder)
    message = done.stderr
    assert done.returncode == 1
    assert "loop: timeout in game 0: no answer within 11.0 s" in message
    assert "(loop.py, line " in message
    assert "loop was taken over after a timeout" in message
    assert "first" in done.stdout


def test_ctrl_c_prints_what_was_played(folder: Path) -> None:
    """Ctrl-C leaves no file and no process."""
    words = ("play", "./dice", "first.py", "-n", "10000000", "-o", "g.jsonl")
    with started(words, folder, environment()) as command:
        command.wait_until(lambda: any(file.stat().st_size for file in folder.glob(".g.jsonl.*")))
        children = Path(f"/proc/{command.pid}/task/{command.pid}/children").read_text().split()
        command.interrupt()
        code, out, errors = command.wait()
    assert code == 130
    assert "first" in out
    assert "of 10000000 games; g.jsonl was not written" in errors
    assert children
    assert not any(Path(f"/proc/{child}").exists() for child in children)
    left = {path.name for path in folder.iterdir()} - {"__pycache__"}
    assert left == {"dice", "first.py"}
