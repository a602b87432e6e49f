"""Loading bots from their folders."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import numpy  # noqa: ICN001 - compared with a bot's
import pytest

from arena.play.botfiles import FILE, BotBroken, bot_names, load_bot, samples
from arena.rules import Card, Result, Rules, View, new_game, shuffled_deck, view
from arena.sdk.bot import GameOver, as_move, new_chooser


@pytest.fixture
def seen() -> View:
    """Return the view at the start of a game."""
    rules = Rules(players=2)
    return view(new_game(rules, shuffled_deck(rules, bytes(16))), 0)


def write(folder: Path, name: str, text: str) -> Path:
    """Write a bot's file and return its path."""
    file = folder / name / FILE
    file.parent.mkdir()
    file.write_text(text)
    return file


def test_sample_bots_are_found_by_name() -> None:
    """Each of the bots that come with the arena is a folder whose bot can be loaded."""
    names = bot_names(samples())
    assert {"random", "greedy"} <= set(names)
    for name in names:
        load_bot(samples() / name / FILE)


def test_a_function_is_shared_by_all_games(tmp_path: Path, seen: View) -> None:
    """A bot with a function ``choose`` has no state."""
    bot = load_bot(write(tmp_path, "plain", "def choose(view):\n    return view.hand[0]\n"))
    assert new_chooser(bot).choose is new_chooser(bot).choose
    assert new_chooser(bot).choose(seen) is seen.hand[0]


def test_a_class_is_instantiated_for_every_game(tmp_path: Path, seen: View) -> None:
    """The state of one game doesn't carry over to the next."""
    text = (
        "class Bot:\n    turns = 0\n    def choose(self, view):\n"
        "        self.turns += 1\n        return view.hand[self.turns]\n"
    )
    bot = load_bot(write(tmp_path, "stateful", text))
    first = new_chooser(bot)
    assert [first.choose(seen), first.choose(seen)] == [seen.hand[1], seen.hand[2]]
    assert new_chooser(bot).choose(seen) == seen.hand[1]


def test_two_seats_share_nothing(tmp_path: Path, seen: View) -> None:
    """The file is executed for each seat, as in a container."""
    file = write(
        tmp_path, "counting", "seen = []\ndef choose(view):\n    seen.append(1)\n    return len(seen)\n"
    )
    one, two = new_chooser(load_bot(file)), new_chooser(load_bot(file))
    assert [one.choose(seen), one.choose(seen), two.choose(seen)] == [1, 2, 1]


def _added(subfolder: str) -> str:
    return f"import sys\nsys.path.insert(0, __file__[:-len('{FILE}')] + '{subfolder}')\n"


FILES = ("helper.py", "tools/helper.py", "tools/inner.py", "tools/deep/deeper.py")
IMPORTS = {
    "file": "import helper\ndef choose(view): return helper.CARD",
    "function": "def choose(view):\n import helper\n return helper.CARD",
    "generator": "def choose(view):\n import helper\n yield helper.CARD",
    "answer": (
        "from arena.sdk import Answer\ndef cards():\n import helper\n yield helper.CARD\n"
        "def choose(view): return Answer(cards())"
    ),
    "package": "def choose(view):\n from tools import helper\n return helper.CARD",
    "subfolder": _added("tools") + "import inner\ndef choose(view): return inner.CARD",
    "function and subfolder": _added("tools") + "def choose(view):\n import inner\n return inner.CARD",
    "deep subfolder": _added("tools/deep") + "import deeper\ndef choose(view): return deeper.CARD",
    "method": "class Bot:\n def choose(self, view):\n  from helper import CARD\n  return CARD",
    "init": (
        "class Bot:\n def __init__(self):\n  from helper import CARD\n  self.card = CARD\n"
        " def choose(self, view): return self.card"
    ),
    "game over": (
        "class Bot:\n def choose(self, view): return self.card\n"
        " def game_over(self, end):\n  from helper import CARD\n  self.card = CARD"
    ),
}


@pytest.mark.parametrize("text", IMPORTS.values(), ids=IMPORTS)
def test_every_bot_has_its_own_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen: View, text: str
) -> None:
    """Modules of the same name stay apart, even from the caller's, whenever a bot imports them.

    The paths may be relative.
    """
    monkeypatch.chdir(tmp_path)
    callers = {name: ModuleType(name) for name in ("helper", "inner")}
    for name, module in callers.items():
        monkeypatch.setitem(sys.modules, name, module)
        module.__file__ = str(tmp_path / f"{name}.py")
    path, modules = list(sys.path), set(sys.modules)
    bots = []
    for number in (1, 2):
        file = write(Path(), f"v{number}", text)
        (file.parent / "tools/deep").mkdir(parents=True)
        for name in FILES:
            (file.parent / name).write_text(f"from arena.rules import Card\nCARD = Card({number})\n")
        bots.append(load_bot(file))
    choosers = [new_chooser(bot) for bot in bots]
    for chooser in choosers:
        if chooser.game_over is not None:
            chooser.game_over(GameOver(seen.rules, 0, (), Result((), (), (), ())))
    moves = [as_move(chooser.choose(seen), seen) for chooser in (*choosers, *choosers)]
    assert [move.cards for move in moves] == [(Card(1),), (Card(2),)] * 2
    assert {name: sys.modules[name] for name in callers} == callers
    assert sys.path == path
    assert set(sys.modules) == modules


@pytest.fixture
def _hasty_threads() -> Iterator[None]:
    """Let Python switch between threads as often as possible."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("_hasty_threads")
def test_threads_can_call_bots(tmp_path: Path, seen: View) -> None:
    """Even then, every bot gets its own modules, and the caller's don't change."""
    path, modules, choosers = list(sys.path), set(sys.modules), []
    for number in (1, 2):
        file = write(tmp_path, f"v{number}", "def choose(view):\n import helper\n return helper.NUMBER\n")
        file.with_name("helper.py").write_text(f"NUMBER = {number}\n")
        choosers.append(new_chooser(load_bot(file)).choose)
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(choose, seen) for choose in choosers * 500]
    assert [call.result() for call in calls] == [1, 2] * 500
    assert (sys.path, set(sys.modules)) == (path, modules)


def test_modules_keep_their_state_between_calls(tmp_path: Path, seen: View) -> None:
    """A module is executed once for each seat, whether it was imported early or late."""
    text = "def choose(view):\n    import helper\n    helper.seen.append(1)\n    return len(helper.seen)\n"
    file = write(tmp_path, "late", text)
    file.with_name("helper.py").write_text("seen = []\n")
    one, two = new_chooser(load_bot(file)), new_chooser(load_bot(file))
    assert [one.choose(seen), one.choose(seen), two.choose(seen)] == [1, 2, 1]


def test_bots_share_libraries(tmp_path: Path, seen: View) -> None:
    """Data files and folders may have the names of libraries, which aren't imported again."""
    file = write(tmp_path, "data", "import numpy\ndef choose(view):\n    return id(numpy)\n")
    (file.parent / "numpy").mkdir()
    (file.parent / "json.txt").touch()
    assert new_chooser(load_bot(file)).choose(seen) == id(numpy)


def test_dataclasses_work_in_a_bot(tmp_path: Path, seen: View) -> None:
    """A dataclass looks up the bot's module by its name."""
    text = (
        "from __future__ import annotations\nfrom dataclasses import dataclass, field\n"
        "from arena.rules import Card\n@dataclass\nclass Bot:\n    card: Card = Card.WASABI\n"
        "    def choose(self, view):\n        return self.card\n"
    )
    bot = load_bot(write(tmp_path, "data", text))
    assert new_chooser(bot).choose(seen) is Card.WASABI


def test_a_suffix_may_be_in_upper_case(tmp_path: Path) -> None:
    """As in a submission, ``.PY`` is a suffix of Python files."""
    file = tmp_path / "BOT.PY"
    file.write_text("def choose(view):\n    return view.hand[0]\n")
    assert load_bot(file) is not None


def test_a_file_that_python_would_not_run_is_refused(tmp_path: Path) -> None:
    """Unlike a program, a module may have comments that aren't UTF-8."""
    file = tmp_path / "bot.py"
    file.write_bytes(b"# caf\xe9\ndef choose(view):\n    return view.hand[0]\n")
    with pytest.raises(BotBroken, match=r"can't be loaded: SyntaxError: invalid or missing encoding"):
        load_bot(file)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def choose(view: return", r"bot\.py can't be loaded: SyntaxError: "),
        ("import nosuchmodule", r"bot\.py can't be loaded: ModuleNotFoundError: No module named"),
        ("from arena.sdk import run\nrun(lambda view: view.hand[0])",
         r"bot\.py can't be loaded: SystemExit: 2\. If it calls run\(\), it must do so inside an `if"),
        ("class Bot: pass", r"bot\.py has no bot: the class Bot is not a bot: it has no method choose\("),
        ("choose = 3", r"bot\.py has neither a function choose\(view\) nor a class Bot"),
    ],
)  # fmt: skip
def test_a_file_without_a_bot_is_refused(tmp_path: Path, text: str, said: str) -> None:
    """The error for a file without a bot has the file's name and the reason."""
    with pytest.raises(BotBroken, match=said):
        load_bot(write(tmp_path, "broken", text))
