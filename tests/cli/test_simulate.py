"""Tests of ``arena simulate``."""

import json
import os
import signal
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest

from arena.play.replay.document import parse
from arena.play.replay.verify import verify
from arena.protocol.challenges import Entrant
from tests.cli.forked import started
from tests.patience import WAIT_SECONDS

from .command import COMMAND, DICE, FIRST, arena, bot, environment

THREE = ("--players", "3", "--seed", "1")
DICES = ("--bots", "./dice,./dice,./dice")
ENDLESS = ("simulate", *THREE, "--games", "100000000", *DICES, "--out")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two bots in it."""
    bot(tmp_path, "dice", DICE)
    bot(tmp_path, "first", FIRST)
    return tmp_path


def test_one_replay_per_line(folder: Path) -> None:
    """The file contains the requested number of valid replays. Stdout is empty."""
    words = ("--games", "5", "--bots", "./dice,./first,./dice", "--out", "g.jsonl")
    done = arena("simulate", *THREE, *words, folder=folder)
    assert (done.returncode, done.stdout) == (0, "")
    replays = [parse(line) for line in (folder / "g.jsonl").read_bytes().splitlines()]
    assert [replay.game for replay in replays] == [f"simulate-1-{game}" for game in range(5)]
    assert len({replay.seed for replay in replays}) == 5
    for replay in replays:
        assert verify(replay) is None
        assert [seat.bot for seat in replay.seats] == ["dice", "first", "dice"]
        assert all(turn.millis is None for turn in replay.turns)
    assert sorted(path.name for path in folder.iterdir()) == ["dice", "first", "g.jsonl"]


def test_sample_bots_are_known_by_name(folder: Path) -> None:
    """A plain name is that of a sample bot: version 1, by the house."""
    done = arena(
        "simulate", *THREE, "--games", "1", "--bots", "random,greedy,random", "--out", "-", folder=folder
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["seats"] == [
        {"bot": name, "version": 1, "author": "house"} for name in ("random", "greedy", "random")
    ]


def test_same_command_same_bytes(folder: Path) -> None:
    """A file and stdout have the same bytes, whatever the bots print. With another seed, they differ."""
    variant = ("--players", "2", "--dummy", "--soy-sauce", "--pass-both-ways")
    common = ("simulate", *variant, "--games", "3", "--bots", "./dice,./first")
    assert arena(*common, "--seed", "7", "--out", "one", folder=folder).returncode == 0
    printed = arena(*common, "--seed", "7", "--out", "-", folder=folder)
    assert printed.stdout == (folder / "one").read_text()
    rules = json.loads(printed.stdout.splitlines()[0])["rules"]
    assert rules == {"players": 2, "pass_both_ways": True, "soy_sauce": True, "dummy": True}
    assert arena(*common, "--seed", "8", "--out", "-", folder=folder).stdout != printed.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "def choose(view):\n if view.round > 1: raise KeyError('lost')\n return view.hand[0]",
            "bad: crash in game 0: KeyError: 'lost' (bot.py, line 2, in choose)\n",
        ),
        ("def choose(view): return view.hand[:3]", "bad: illegal in game 0: seat 1: 3 cards"),
        ("def choose(view): return 'tempura'", "bad: crash in game 0: TypeError: "),
        (
            "import sys\ndef choose(view): sys.exit(0)",
            "bad: crash in game 0: SystemExit: 0 (bot.py, line 2, in choose)\n",
        ),
    ],
    ids=range(4),
)
def test_a_fault_ends_it(
    folder: Path, text: str, said: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The message has the bot, line and position, but no traceback. No file is left."""
    bot(folder, "bad", text)
    before = sorted(folder.iterdir())
    done = arena(
        *("simulate", "--bots", "./dice,./bad", "--games", "3", "--seed", "1", "--out", "g.jsonl"),
        folder=folder,
        XDG_CACHE_HOME=str(tmp_path_factory.mktemp("cache")),
    )
    message = done.stderr
    assert said in message
    assert "Traceback" not in message
    assert "to reproduce: arena puzzle " in message
    assert done.returncode == 1
    assert sorted(folder.iterdir()) == before


def test_the_summary_as_json(folder: Path) -> None:
    """The summary has a row for each seat, with the keys of the API's challenge results."""
    told = json.loads(arena("simulate", *DICES, "--games", "4", "--json", folder=folder).stdout)
    assert told["games"] == 4
    assert [seat.pop("seat") for seat in told["seats"]] == [0, 1, 2]
    assert {*told["seats"][0]} <= {field.name for field in fields(Entrant)}


def test_only_bots_are_needed(folder: Path) -> None:
    """The table has a seat for each bot, the seed is drawn and printed, and only a summary is printed."""
    done = arena("simulate", "--bots", "./dice,greedy,./dice", "--games", "20", folder=folder)
    assert (done.returncode, done.stdout) == (0, "")
    *seats, end = done.stderr.splitlines()
    assert [line.split(":")[1] for line in seats] == [" seat 0, dice", " seat 1, greedy", " seat 2, dice"]
    said = f"--seed {end.split()[-1]}"
    assert end == f"arena: 20 games, {said}"
    again = arena("simulate", "--bots", "./dice,greedy,./dice", "--games", "20", *said.split(), folder=folder)
    assert again.stderr == done.stderr
    assert arena("simulate", folder=folder).returncode == 2
    assert sorted(path.name for path in folder.iterdir()) == ["dice", "first"]


def test_an_existing_file_is_replaced_only_by_a_whole_one(folder: Path) -> None:
    """After an error, the previous file is unchanged."""
    (folder / "g.jsonl").write_text("old")
    bot(folder, "late", "def choose(view):\n if view.round == 3: raise ValueError\n return view.hand[0]")
    args = ("simulate", "--players", "2", "--games", "2", "--seed", "1", "--out", "g.jsonl")
    assert arena(*args, "--bots", "./dice,./late", folder=folder).returncode == 1
    assert (folder / "g.jsonl").read_text() == "old"
    assert arena(*args, "--bots", "./dice,./dice", folder=folder).returncode == 0
    assert len((folder / "g.jsonl").read_bytes().splitlines()) == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_leaves_no_file(folder: Path, number: signal.Signals) -> None:
    """Ctrl-C, SIGTERM or closing the terminal leaves no incomplete file, under any name."""
    with started((*ENDLESS, "g.jsonl"), folder, environment()) as command:
        command.wait_until(lambda: any(file.stat().st_size for file in folder.glob(".g.jsonl.*")))
        assert not (folder / "g.jsonl").exists()
        command.interrupt(number)
        code, _, errors = command.wait()
    assert code == 130
    assert sorted(path.name for path in folder.iterdir()) == ["dice", "first"]
    assert "Traceback" not in errors


def test_a_closing_terminal_does_not_interrupt_the_cleanup(folder: Path) -> None:
    """Both the shell and the kernel send SIGHUP when a terminal is closed."""
    hang_up = "os.kill(os.getpid(), signal.SIGHUP)"
    bot(
        folder,
        "closing",
        f"import os, signal\ndef choose(view):\n try: {hang_up}; return view.hand[0]\n"
        f" finally:\n  {hang_up}\n  open('cleaned', 'x').close()\n",
    )
    done = arena("simulate", "--bots", "./closing,./dice", "--out", "g.jsonl", folder=folder)
    assert (done.returncode, done.stdout) == (130, "")
    assert (folder / "cleaned").exists()
    assert "Traceback" not in done.stderr


def test_a_closed_pipe_ends_it_quietly(folder: Path) -> None:
    """For example, ``arena simulate … | head -1`` prints no error."""
    with subprocess.Popen(  # noqa: S603 - the command under test
        [*COMMAND, *ENDLESS, "-"],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert verify(parse(process.stdout.readline())) is None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(timeout=WAIT_SECONDS) == 1


def test_a_device_gets_the_games_and_stays_a_device(folder: Path) -> None:
    """The command writes to a pipe or device without replacing it."""
    os.mkfifo(folder / "pipe")
    words = ("simulate", *THREE, "--games", "2", *DICES, "--out", "pipe")
    with started(words, folder, environment()) as command:
        assert len((folder / "pipe").read_bytes().splitlines()) == 2
        assert command.wait()[0] == 0
    assert (folder / "pipe").is_fifo()
