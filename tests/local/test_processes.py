"""Tests of games between bots in their own processes."""

import os
import shlex
import sys
from pathlib import Path

import pytest

from arena.local.bots import LocalBot, UnusableBot, bot_of_command, digest_of, find_bot, with_distinct_names
from arena.local.games import LocalGame, LocalResult
from arena.local.processes import ProgramPlayer
from arena.local.tally import schedule
from arena.local.workers import BotUnloadable, PythonPlayer
from arena.play.replay.document import parse
from arena.play.replay.verify import verify
from arena.protocol.faults import Fault
from arena.rules import Rules
from tests.patience import WAIT_SECONDS

FIRST = "def choose(view):\n    return view.legal_moves()[0]\n"
RUN = "from arena.sdk import run\nrun(choose)\n"


@pytest.fixture
def first(tmp_path: Path) -> LocalBot:
    """Return a Python bot whose file doesn't call `run`."""
    (tmp_path / "first.py").write_text(FIRST)
    return find_bot(str(tmp_path / "first.py"))


def command(folder: Path, text: str) -> LocalBot:
    """Return a bot that a command starts."""
    (folder / "program.py").write_text(text)
    return bot_of_command(shlex.join([sys.executable, str(folder / "program.py")]))


def play(games: int, *bots: LocalBot) -> list[LocalResult]:
    """Play games between these bots."""
    plan = ProgramPlayer(bots=with_distinct_names(bots), with_replays=True, processes=2)
    with plan.playing(schedule(Rules(players=len(bots)), 1, games, "test")) as results:
        return list(results)


def test_programs_play_the_same_games_as_in_process(tmp_path: Path, first: LocalBot) -> None:
    """Games are in order, and every kind of bot has the same results."""
    bots = (first, first, command(tmp_path, FIRST + RUN))
    results = play(30, *bots)
    assert [result.game.number for result in results] == list(range(30))
    plan = PythonPlayer(bots=(first,) * 3)
    with plan.playing(schedule(Rules(players=3), 1, 30, "test")) as quick:
        expected = [[(seat.place, seat.points) for seat in result.seats] for result in quick]
    assert [[(seat.place, seat.points) for seat in result.seats] for result in results] == expected
    for result in results:
        assert result.replay is not None
        assert verify(parse(result.replay)) is None
        assert not result.mistakes


def test_a_python_bot_plays_as_many_games_at_once_as_it_asks_for(tmp_path: Path, first: LocalBot) -> None:
    """Its file runs as on the ladder, with its own call of `run`."""
    text = (
        "last = (9, 9)\n"
        "def choose(view):\n"
        "    global last\n"
        "    assert last < (view.round, view.turn) or view.round == view.turn == 1\n"
        "    last = (view.round, view.turn) if (view.round, view.turn) < (3, 9) else (0, 0)\n"
        "    return view.hand[0]\n"
        "if __name__ == '__main__':\n"
        "    import sys\n"
        "    from arena.sdk import run\n"
        "    assert sys.argv == [__file__]\n"
        "    run(choose, games_at_once=1)\n"
    )
    (tmp_path / "patient.py").write_text(text)
    results = play(6, first, find_bot(str(tmp_path / "patient.py")))
    assert [result.mistakes for result in results] == [()] * 6


def test_a_bot_may_sit_on_several_seats(first: LocalBot) -> None:
    """A bot on several seats has a process for each."""
    games = [LocalGame(game, f"{game}", Rules(players=3), f"{game:032x}", 0, (1, 0, 1)) for game in range(3)]
    with ProgramPlayer(bots=(first, first)).playing(games) as results:
        assert [result.game for result in results] == games


def test_a_crash_costs_one_game_and_is_explained(
    tmp_path: Path, first: LocalBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mistake has the end of stderr and the position. The next game uses a new process."""
    monkeypatch.setattr("arena.play.launcher.seats._EXIT_SECONDS", WAIT_SECONDS)
    text = "def choose(view):\n    if view.round == 2: raise KeyError('lost')\n    return view.hand[0]\n"
    results = play(3, first, command(tmp_path, text + RUN))
    assert len(results) == 3
    for result in results:
        (mistake,) = result.mistakes
        assert (mistake.bot, mistake.fault) == (1, Fault.CRASH)
        assert "KeyError: 'lost'" in mistake.trace
        assert mistake.puzzle is not None
        seen = mistake.puzzle.views()[-1]
        assert (seen.round, seen.turn) == (2, 1)


def test_a_program_without_a_library_may_crash(tmp_path: Path, first: LocalBot) -> None:
    """``Hello.sdk`` may be empty: only a program that is lost before its first move is refused."""
    nameless = "from arena.sdk import match\nmatch._SDK = ''\n"
    text = "def choose(view):\n    if view.round == 2: raise KeyError('lost')\n    return view.hand[0]\n"
    (result,) = play(1, first, command(tmp_path, nameless + text + RUN))
    assert [mistake.fault for mistake in result.mistakes] == [Fault.CRASH]


def test_files_in_the_current_folder_replace_no_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: LocalBot
) -> None:
    """Another bot in this folder may be called ``random.py``."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "random.py").write_text("raise ImportError('not the standard library')")
    monkeypatch.chdir(folder)
    (result,) = play(1, first, first)
    assert not result.mistakes


def test_a_program_that_is_not_a_bot_is_refused(tmp_path: Path, first: LocalBot) -> None:
    """A program that never sends Hello is refused. The error shows what it printed."""
    program = command(tmp_path, "import sys\nsys.exit('I am no bot')\n")
    with pytest.raises(BotUnloadable, match="program didn't connect to the referee: it exited") as no:
        play(2, first, program)
    assert "I am no bot" in no.value.trace


def test_a_program_can_be_named_by_its_file(tmp_path: Path) -> None:
    """The file must be executable. A changed program has another digest."""
    program = tmp_path / "bot.out"
    program.write_text("#!/bin/sh\n")
    with pytest.raises(UnusableBot, match=r"bot\.out is neither a program nor"):
        find_bot(str(program))
    program.chmod(0o755)
    found = find_bot(str(program))
    assert (found.name, found.command, found.in_process) == ("bot", (str(program),), False)
    before = digest_of(found)
    program.with_name("index.js").touch()
    assert digest_of(found) == before
    program.write_text("#!/bin/sh\nexit 1\n")
    assert digest_of(found) != before


@pytest.mark.parametrize("suffix", ["py", "js"])
@pytest.mark.parametrize("name", ["bot", "mine"])
def test_the_digest_depends_on_what_the_bot_needs(tmp_path: Path, name: str, suffix: str) -> None:
    """A bot's code includes the files that it imports or names, and those that these need, but no others."""
    main = tmp_path / f"{name}.{suffix}"
    if suffix == "py":
        main.write_text(
            "from kit import (  # (deep)\n    helper,\n)\ntry: import slow\nexcept ImportError: pass\n"
            "import math, \\\n  fast\nWEIGHTS = open('data/' \"big weights.npz\")\n"
        )
        helper = "from .deep import value\n"
        needed = ["kit/__init__.py", "kit/helper.py", "kit/deep.py", "data/big weights.npz"]
        needed += ["slow.so", "fast.cpython-311-x86_64-linux-gnu.so"]
    else:
        main.write_text(
            "import { helper } from './kit'\nimport big from './big-net.js'\nread(`./data/big weights.npz`)\n"
        )
        helper = "require('./deep.js')\nrequire('./weights')\nrequire('./lib')\nrequire('../fast.v2')\n"
        needed = ["kit/index.js", "kit/helper.js", "kit/deep.js", "data/big weights.npz", "big-net.js"]
        needed += ["kit/weights.json", "kit/lib.cjs", "fast.v2.node"]
    others = ["data/more.npz", "old/helper.py", "test_bot.py", "weights.jsonl", "node_modules/kit/index.js"]
    for file in (*needed, *others):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(
            helper if "helper" in file else "import './helper'\n" * ("index" in file)
        )
    (tmp_path / os.fsdecode(b"data/\xff")).touch()
    with main.open("a") as end:
        end.write("\n" * 100_000)  # which take hours if the time is quadratic
    bots = [find_bot(str(main)), bot_of_command(f"{shlex.quote(sys.executable)} {main}")]
    for file in (*needed, *others):
        before = [digest_of(bot) for bot in bots]
        (tmp_path / file).write_text((tmp_path / file).read_text() + "\n")
        changed = [digest_of(bot) != old for bot, old in zip(bots, before, strict=True)]
        assert changed == [file in needed] * 2, file


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "the command is empty"),
        ("./nope --fast", "the program './nope'"),
        ("'x", "can't be parsed"),
    ],
)
def test_a_command_that_names_no_program(line: str, said: str) -> None:
    """The error says what is wrong with the command."""
    with pytest.raises(UnusableBot, match=said):
        bot_of_command(line)
