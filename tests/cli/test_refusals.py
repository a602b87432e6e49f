"""Tests of refusals by commands that use local bots and games: they print one line and change nothing."""

import json
import shlex
from pathlib import Path

import pytest

from arena.play.replay.document import encode
from arena.rules import Rules
from tests.play.replay.games import replay_of

from .command import arena

FIRST = "def choose(view):\n    return view.hand[0]\n"
GAME = encode(replay_of(Rules(players=2)))
UNREADABLE = bytes(range(256))
TEXTS = {
    "first.py": FIRST,
    "last.py": "def choose(view):\n    return view.legal_moves()[-1]\n",
    "broken.py": "def choose(view: return",
    "bot.c": "int main() {}",
    "bots/one.py": FIRST,
    "bots/two.py": FIRST,
    "bad/a.py": "def choose(view: return",
    "bad/b.py": "def choose(view: return",
    "empty.jsonl": "",
    "lines.jsonl": '{\n"format":\n"sushigo-replay/1"}',
}

REFUSED = {
    "play": "a game needs two to five bots, but you gave none",
    "play first.py": "a game needs two to five bots, but you gave first",
    "play gredy first.py": "there is no bot called 'gredy'. Did you mean greedy?",
    "play '' first.py": "a bot's name is empty",
    "play ./nope first.py": "no such file or folder: ./nope",
    "play ~no-such-user/bot.py first.py": "can't read ~no-such-user/bot.py: ",
    f"play {'a' * 300} first.py": "File name too long",
    "play greedy first.py --json -o -": "--json and the replays can't both go to stdout",
    "play bot.c first.py": "bot.c is neither a program nor a source file in Python (.py) or JavaScript (.js)",
    "play . first.py": ". has no bot.py or bot.js",
    "play greedy first.py first.py --dummy": "3 players with a dummy: ",
    "play greedy first.py -o no/where": "can't write no/where: ",
    "play greedy first.py -o loops/a.py": "can't write loops/a.py: ",
    "play greedy first.py -o /dev/full": "can't write /dev/full: ",
    "puzzle first.py greedy": "first.py: not a puzzle: ",
    "puzzle nope greedy": "can't read nope: ",
    "compare gredy first.py": "there is no bot called 'gredy'",
    "compare greedy broken.py": "broken.py can't be loaded: SyntaxError",
    "compare greedy first.py --players two": "--players two: give numbers from 2 to 5",
    "compare greedy first.py --effect 5": "effect 5.0 and error 0.05: ",
    "compare greedy broken.py --results new.jsonl": "broken.py can't be loaded: SyntaxError",
    "compare greedy first.py --results no/where": "can't use no/where: ",
    "league none": "no such folder: none",
    "league empty": "too few bots in the league: 0 found, 2 needed. Add house bots with --house",
    "league loops --house greedy": "can't read ",
    "league bots --house gredy": "there is no bot called 'gredy'. Did you mean greedy?",
    "league bots --house one": "a bot in bots has the same name as the house bot one: rename yours",
    "league bots --players 9": "9 players: Sushi Go! is for 2 to 5",
    "league bots --results bots/one.py": "bots/one.py is not a league file",
    "league bots --results no/where": "can't use no/where: ",
    "league bad --players 2 --results new.jsonl": "can't be loaded: SyntaxError",
    "league bad --players 2": "can't be loaded: SyntaxError",
    "simulate --players 3 --bots first.py,first.py": "--bots has 2 bots, but --players is 3",
    "simulate --players 3 --dummy --bots first.py": "the dummy variant is for exactly 2",
    "simulate --bots gredy,random": "there is no bot called 'gredy'. Did you mean greedy?",
    "simulate --bots broken.py,random": "broken.py can't be loaded: SyntaxError: ",
    "simulate --bots greedy,random --games 1 -o no/g.jsonl": "can't write no/g.jsonl: ",
    "simulate --bots greedy,random --games 1 -o .": "can't write .: ",
    "simulate --bots greedy,random --json -o -": "--json and the replays can't both go to stdout",
    "referee --listen here": "here is not an address: give unix:PATH or tcp:PORT",
    "referee --listen tcp:99999": "tcp:99999 is not an address",
    "referee --listen unix:no/where": "can't listen on unix:no/where: No such file or directory",
    "referee gredy --listen unix:s": "there is no bot called 'gredy'. Did you mean greedy?",
    "referee greedy --listen unix:s --seat 3": "this table has no seat 3: choose --seat 0 to 1",
    "referee greedy greedy --listen unix:s --dummy": "3 players with a dummy: ",
    "check mine.py": "no such file or folder: mine.py",
    "conformance ./nope": "the program './nope'",
    "init bots": "bots already exists",
    "init ../up": "../up",
    "init 'no name'": "no name",
    "analyse none.jsonl": "no such file: none.jsonl",
    "analyse untrue.jsonl": "untrue.jsonl, line 1: totals[0]: is ",
    "analyse empty.jsonl": "empty.jsonl contains no replays",
    "analyse g.jsonl --json -o -": "--json and the replays can't both go to stdout",
    "analyse g.jsonl --playouts 8 -o no/folder.jsonl": "can't write no/folder.jsonl",
    "rerun": "give one bot: ",
    "rerun first.py": "specify --lost, or list one or more games before the bot",
    "rerun --lost g.jsonl first.py": "specify --lost, or list one or more games before the bot",
    "rerun nope.jsonl first.py": "no such file: nope.jsonl",
    "rerun g.jsonl gredy": "there is no bot called 'gredy'. Did you mean greedy?",
    "rerun first.py first.py": "first.py, line 1: not JSON",
    f"rerun {'a' * 300} first.py": "File name too long",
    "rerun g.jsonl last.py": "last didn't play in game game-1: use --of with a bot that did (",
    "rerun g.jsonl last.py --of first@2": "first@2 didn't play in game game-1",
    "replay verify empty.jsonl": "empty.jsonl contains no replays",
    "replay verify second.jsonl": "second.jsonl, line 2: not a replay: Object missing required",
    "replay verify lines.jsonl": "lines.jsonl, line 1: not a replay: Object missing required",
    "replay verify bytes.jsonl": "bytes.jsonl, line 1: not JSON: ",
    "replay verify nope.jsonl": "can't read nope.jsonl: ",
    "replay verify .": "can't read .: ",
}
"""Words after ``arena``, and the message."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with bots, replays and other files."""
    folder = tmp_path_factory.mktemp("refused")
    for name in ("bots", "bad", "empty", "loops"):
        (folder / name).mkdir()
    (folder / "loops" / "a.py").symlink_to("a.py")
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    untrue = json.loads(GAME)
    untrue["totals"][0] += 1
    for name, content in {
        "g": GAME,
        "untrue": json.dumps(untrue).encode(),
        "second": GAME + b"\n{}\n",
        "bytes": UNREADABLE,
    }.items():
        (folder / f"{name}.jsonl").write_bytes(content)
    return folder


def content(folder: Path) -> dict[str, bytes]:
    """Return all files except Python's cache."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {str(path): path.read_bytes() for path in files}


@pytest.mark.parametrize("line", REFUSED)
def test_wrong_input_is_refused_in_one_line(folder: Path, line: str) -> None:
    """The exit code for wrong input is 2, with one line on stderr. No file changes."""
    before = content(folder)
    done = arena(*shlex.split(line), folder=folder)
    message = done.stderr
    assert (done.returncode, done.stdout) == (2, ""), message
    assert message.startswith("arena: ")
    assert REFUSED[line] in message
    assert message.count("\n") == 1
    assert content(folder) == before
