"""``arena simulate``."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.play.replay.document import parse
from arena.play.replay.verify import verify
from tests.patience import WAIT_SECONDS

from .command import COMMAND, DICE, FIRST, LOOP, arena, bot, environment

THREE = ("--players", "3", "--seed", "1")
DICES = ("--bots", "./dice,./dice,./dice")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with two bots in it."""
    bot(tmp_path, "dice", DICE)
    bot(tmp_path, "first", FIRST)
    return tmp_path


def test_one_replay_a_line(folder: Path) -> None:
    """The file holds this many true replays, and nothing else is printed on stdout."""
    done = arena(
        "simulate",
        *THREE,
        "--games",
        "5",
        "--bots",
        "./dice,./first,./dice",
        "--out",
        "g.jsonl",
        folder=folder,
    )
    assert (done.returncode, done.stdout) == (0, b"")
    replays = [parse(line) for line in (folder / "g.jsonl").read_bytes().splitlines()]
    assert [replay.game for replay in replays] == [f"simulate-1-{game}" for game in range(5)]
    assert len({replay.seed for replay in replays}) == 5
    for replay in replays:
        assert verify(replay) is None
        assert [seat.bot for seat in replay.seats] == ["dice", "first", "dice"]
        assert all(turn.millis is None for turn in replay.turns)
    assert sorted(path.name for path in folder.iterdir()) == ["dice", "first", "g.jsonl"]


def test_sample_bots_are_known_by_name(folder: Path) -> None:
    """A name alone is a sample bot: version 1, by the house."""
    done = arena(
        "simulate", *THREE, "--games", "1", "--bots", "random,greedy,random", "--out", "-", folder=folder
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["seats"] == [
        {"bot": name, "version": 1, "author": "house"} for name in ("random", "greedy", "random")
    ]


@pytest.mark.parametrize(
    "variant",
    [
        ("--players", "2"),
        ("--players", "5", "--soy-sauce"),
        ("--players", "4", "--pass-both-ways"),
        ("--players", "2", "--dummy"),
        ("--players", "2", "--dummy", "--soy-sauce", "--pass-both-ways"),
    ],
    ids=" ".join,
)
def test_same_command_same_bytes(folder: Path, variant: tuple[str, ...]) -> None:
    """Twice to a file and once to stdout: equal to the byte, whatever the bots print; another seed is not."""
    bots = ",".join(["./dice", "./first", "./dice", "./dice", "./first"][: int(variant[1])])
    common = ("simulate", *variant, "--games", "3", "--bots", bots)
    for name in ("one", "two"):
        assert arena(*common, "--seed", "7", "--out", name, folder=folder).returncode == 0
    printed = arena(*common, "--seed", "7", "--out", "-", folder=folder)
    assert printed.stdout == (folder / "one").read_bytes() == (folder / "two").read_bytes()
    rules = json.loads(printed.stdout.splitlines()[0])["rules"]
    assert rules == {
        "players": int(variant[1]),
        "pass_both_ways": "--pass-both-ways" in variant,
        "soy_sauce": "--soy-sauce" in variant,
        "dummy": "--dummy" in variant,
    }
    assert arena(*common, "--seed", "8", "--out", "-", folder=folder).stdout != printed.stdout


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("--players", "3", "--bots", "./dice,./dice"), 2, "--bots has 2 bots, but --players is 3"),
        (("--players", "6", "--bots", "./dice"), 2, "6 players: Sushi Go! is for 2 to 5"),
        (("--players", "3", "--dummy", "--bots", "./dice"), 2, "the dummy variant is for exactly 2"),
        (("--players", "2", "--bots", "gredy,random"), 2, "no bot is called 'gredy'. Did you mean greedy?"),
        (("--players", "2", "--bots", "./nope,./dice"), 2, "no such file or folder: ./nope"),
        (("--players", "2", "--bots", "./broken,./dice"), 2, "bot.py can't be loaded: SyntaxError: "),
        (("--players", "2", "--bots", "./empty,./dice"), 2, "neither a function choose(view) nor a class"),
        (
            ("--players", "2", "--bots", "./dice,./raises"),
            1,
            "raises: crash in game 0: KeyError: 'lost' (bot.py, line 2, in choose)\n",
        ),
        (
            ("--players", "2", "--bots", "./dice,./illegal"),
            1,
            "illegal: illegal in game 0: seat 1: 3 cards",
        ),
        (
            ("--players", "2", "--bots", "./dice,./rubbish"),
            1,
            "rubbish: crash in game 0: TypeError: ",
        ),
        (
            ("--players", "2", "--bots", "./dice,./exits"),
            1,
            "exits: crash in game 0: SystemExit: 0 (bot.py, line 2, in choose)\n",
        ),
    ],
    ids=range(11),
)  # fmt: skip
def test_what_is_wrong_is_said_first(
    folder: Path, args: tuple[str, ...], code: int, said: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The message names bot, line and position; only the author's code is traced, and no file is left."""
    bot(folder, "broken", "def choose(view: return")
    bot(folder, "empty", "x = 1")
    bot(
        folder,
        "raises",
        "def choose(view):\n if view.round > 1: raise KeyError('lost')\n return view.hand[0]",
    )
    bot(folder, "illegal", "def choose(view): return view.hand[:3]")
    bot(folder, "rubbish", "def choose(view): return 'tempura'")
    bot(folder, "exits", "import sys\ndef choose(view): sys.exit(0)")
    before = sorted(folder.iterdir())
    done = arena(
        "simulate",
        *args,
        *("--games", "3", "--seed", "1", "--out", "g.jsonl"),
        folder=folder,
        XDG_CACHE_HOME=str(tmp_path_factory.mktemp("cache")),
    )
    message = done.stderr.decode()
    assert said in message
    assert "arena: " in message
    assert "Traceback" not in message
    assert ("to reproduce: arena puzzle " in message) == (code == 1)
    assert done.returncode == code
    assert sorted(folder.iterdir()) == before


@pytest.mark.soak  # waits as long as that of tests/cli/test_play.py
def test_an_endless_loop_ends_the_run(folder: Path) -> None:
    """With the line of the loop."""
    bot(folder, "loop", LOOP)
    done = arena("simulate", "--bots", "./dice,./loop", folder=folder, XDG_CACHE_HOME=str(folder / "cache"))
    assert "loop: timeout in game 0: no answer in 11 s (bot.py, line 6" in done.stderr.decode()
    assert done.returncode == 1


def test_the_summary_as_json(folder: Path) -> None:
    """And never mixed with the replays."""
    args = ("simulate", *DICES, "--games", "4", "--json")
    told = json.loads(arena(*args, folder=folder).stdout)
    assert told["games"] == 4
    assert [seat["seat"] for seat in told["seats"]] == [0, 1, 2]
    both = arena(*args, "-o", "-", folder=folder)
    assert (both.returncode, both.stdout) == (2, b"")


def test_only_bots_are_needed(folder: Path) -> None:
    """The table is as large as the bots need, the seed is drawn and printed, and a summary ends the run."""
    done = arena("simulate", "--bots", "./dice,greedy,./dice", "--games", "20", folder=folder)
    assert (done.returncode, done.stdout) == (0, b"")
    *seats, end = done.stderr.decode().splitlines()
    assert [line.split(":")[1] for line in seats] == [" seat 0, dice", " seat 1, greedy", " seat 2, dice"]
    said = f"--seed {end.split()[-1]}"
    assert end == f"arena: 20 games, {said}"
    again = arena("simulate", "--bots", "./dice,greedy,./dice", "--games", "20", *said.split(), folder=folder)
    assert again.stderr == done.stderr
    assert arena("simulate", folder=folder).returncode == 2
    assert sorted(path.name for path in folder.iterdir()) == ["dice", "first"]


def test_an_existing_file_is_replaced_only_by_a_whole_one(folder: Path) -> None:
    """After an error the old file is as it was."""
    (folder / "g.jsonl").write_text("old")
    bot(folder, "late", "def choose(view):\n if view.round == 3: raise ValueError\n return view.hand[0]")
    args = ("simulate", "--players", "2", "--games", "2", "--seed", "1", "--out", "g.jsonl")
    assert arena(*args, "--bots", "./dice,./late", folder=folder).returncode == 1
    assert (folder / "g.jsonl").read_text() == "old"
    assert arena(*args, "--bots", "./dice,./dice", folder=folder).returncode == 0
    assert len((folder / "g.jsonl").read_bytes().splitlines()) == 2


@pytest.mark.parametrize("target", ["nowhere/g.jsonl", "."])
def test_a_file_that_cannot_be_written(folder: Path, target: str) -> None:
    """A missing folder or a folder itself is refused in words."""
    done = arena("simulate", *THREE, "--games", "1", *DICES, "--out", target, folder=folder)
    assert done.returncode == 2
    assert done.stderr.decode().startswith(f"arena: can't write {target}: ")


@contextmanager
def endless(folder: Path, target: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Start a simulation that would take hours."""
    command = [*COMMAND, "simulate", *THREE, "--games", "100000000", *DICES, "--out", target]
    with subprocess.Popen(  # noqa: S603 - the command under test
        command, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def parts(folder: Path) -> list[Path]:
    """Find what is being written."""
    return [path for path in folder.iterdir() if path.is_file() and path.stat().st_size]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_file(folder: Path, number: signal.Signals) -> None:
    """Neither Ctrl-C nor a termination leaves half a file, under any name."""
    with endless(folder, "g.jsonl") as process:
        deadline = time.monotonic() + WAIT_SECONDS
        while not parts(folder):
            assert time.monotonic() < deadline, process.poll()
            time.sleep(0.01)
        assert not (folder / "g.jsonl").exists()
        process.send_signal(number)
        _, errors = process.communicate(timeout=WAIT_SECONDS)
        assert process.returncode == 128 + number
    assert sorted(path.name for path in folder.iterdir()) == ["dice", "first"]
    assert b"Traceback" not in errors


def test_a_reader_who_has_seen_enough_ends_it_quietly(folder: Path) -> None:
    """As in ``arena simulate … | head -1``."""
    with endless(folder, "-") as process:
        assert process.stdout is not None
        assert verify(parse(process.stdout.readline())) is None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(timeout=WAIT_SECONDS) == 1


def test_a_device_gets_the_games_and_stays_a_device(folder: Path) -> None:
    """A pipe or a device is written to and not replaced."""
    os.mkfifo(folder / "pipe")
    command = [*COMMAND, "simulate", *THREE, "--games", "2", *DICES, "--out", "pipe"]
    with subprocess.Popen(command, cwd=folder, env=environment()) as process:  # noqa: S603 - under test
        assert len((folder / "pipe").read_bytes().splitlines()) == 2
        assert process.wait(timeout=WAIT_SECONDS) == 0
    assert (folder / "pipe").is_fifo()
