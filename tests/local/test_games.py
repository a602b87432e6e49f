"""Tests of games in this process, whose replays must follow the rules."""

import sys
from pathlib import Path

import pytest

from arena.local.bots import LocalBot, find_bot
from arena.local.games import GameInThisProcess, LoadedBot, LocalGame, LocalResult
from arena.local.puzzle import InvalidPuzzle, encode_puzzle, parse_puzzle
from arena.local.solving import answers
from arena.local.timing import DecisionTimer
from arena.local.workers import BotUnloadable, PythonPlayer, WorkerEnded, load_local_bot
from arena.play.replay.document import parse
from arena.play.replay.verify import verify
from arena.protocol.faults import Fault
from arena.protocol.match import Clock
from arena.rules import Rules, new_game, shuffled_deck, view

QUICK = Clock(move_millis=150, bank_millis=300)
FIRST = "def choose(view):\n    return view.legal_moves()[0]\n"
DEAF = "def choose(view):\n  while 1:\n    try:\n      while 1: pass\n    except BaseException: pass\n"
VARIANTS = [
    Rules(players=2),
    Rules(players=2, dummy=True, soy_sauce=True, pass_both_ways=True),
    Rules(players=3, pass_both_ways=True),
    Rules(players=5, soy_sauce=True),
]


def write(folder: Path, name: str, text: str) -> LocalBot:
    """Write a bot's file, and return the bot."""
    file = folder / f"{name}.py"
    file.write_text(text)
    return find_bot(str(file))


def game(rules: Rules, number: int = 0) -> LocalGame:
    """Return a game in which each bot has its own seat."""
    return LocalGame(number, f"test-{number}", rules, f"{number:032x}", number, tuple(range(rules.players)))


def play(rules: Rules, *bots: LocalBot, clock: Clock = QUICK) -> LocalResult:
    """Play a game in this process."""
    timer = DecisionTimer()
    with timer.running(sys.__stderr__ or sys.stderr):
        players: list[LoadedBot] = [load_local_bot(bot, timer) for bot in bots]
        return GameInThisProcess(game(rules), players, clock, timer).play(with_replay=True)


@pytest.mark.parametrize("rules", VARIANTS, ids=str)
def test_a_game_follows_the_rules(rules: Rules, tmp_path: Path) -> None:
    """The replay is valid, and has the bots' times and no faults."""
    result = play(
        rules, *[write(tmp_path, f"bot{seat}", FIRST) for seat in range(rules.players)], clock=Clock()
    )
    assert result.replay is not None
    replay = parse(result.replay)
    assert verify(replay) is None
    assert tuple(seat.place for seat in result.seats) == replay.places
    assert tuple(seat.points for seat in result.seats) == replay.totals[: rules.players]
    assert not result.mistakes
    assert all(seat.median_millis is not None and seat.faults == () for seat in result.seats)


@pytest.mark.parametrize(
    ("text", "fault", "what", "where"),
    [
        ("raise KeyError('lost')", Fault.CRASH, "KeyError: 'lost'", "bad.py, line 4, in choose"),
        ("raise SystemExit", Fault.CRASH, "SystemExit", "bad.py, line 4, in choose"),
        ("return 'tempura'", Fault.CRASH, "TypeError: round 1, turn 1: choose() returned", ""),
        ("return view.hand[:2]", Fault.ILLEGAL, "two cards given without chopsticks", ""),
        ("return view.hand[:3]", Fault.PROTOCOL, "3 cards given", ""),
        ("while True: pass", Fault.TIMEOUT, "no answer within 0.", "bad.py, line 4"),
        ("time.sleep(9)", Fault.TIMEOUT, "no answer within 0.", "bad.py, line 4"),
        ("return 1\n  def __init__(self): 1 / 0", Fault.CRASH, "ZeroDivisionError", "bad.py, line 5"),
    ],
    ids=range(8),
)  # fmt: skip
def test_a_mistake_has_its_line_and_its_position(
    text: str, fault: Fault, what: str, where: str, tmp_path: Path
) -> None:
    """The stand-in decides instead. After too many faults it takes over the seat, which then comes last."""
    bad = write(tmp_path, "bad", f"import time\nclass Bot:\n  def choose(self, view):\n    {text}\n")
    result = play(Rules(players=2), write(tmp_path, "first", FIRST), bad)
    mistake = result.mistakes[0]
    assert (mistake.bot, mistake.fault) == (1, fault)
    assert what in mistake.what
    assert mistake.where.startswith(where)
    assert "arena/local" not in mistake.trace
    assert result.seats[1].is_taken_over
    assert [seat.place for seat in result.seats] == [1, 2]
    assert result.replay is not None
    assert verify(parse(result.replay)) is None


def test_the_position_of_a_mistake_can_be_asked_again(tmp_path: Path) -> None:
    """The puzzle has the same views that the bot got."""
    text = "import sys\nSEEN = []\ndef choose(view):\n    SEEN.append(view)\n    sys.seen = SEEN\n"
    text += "    if view.round == 2 and view.turn == 4: raise ValueError\n    return view.legal_moves()[-1]\n"
    result = play(Rules(players=3), *[write(tmp_path, name, text) for name in "abc"])
    (first, *_) = result.mistakes
    assert first.puzzle is not None
    puzzle = parse_puzzle(encode_puzzle(first.puzzle))
    assert puzzle == first.puzzle
    seen = [view for view in sys.seen if view.seat == 2]  # type: ignore[attr-defined]  # the last bot's
    again = next(mistake.puzzle for mistake in result.mistakes if mistake.bot == 2)
    assert again is not None
    assert list(again.views()) == seen


def test_a_puzzle_is_asked_with_the_games_bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Earlier decisions use up the bank, as in the game."""
    slow = write(tmp_path, "slow", "import time\ndef choose(view):\n time.sleep(3)\n return view.hand[0]")
    fast = write(tmp_path, "fast", "def choose(view): return view.hand[0]")
    monkeypatch.setattr("arena.local.solving.Clock", lambda: Clock(move_millis=500, bank_millis=1200))
    state = new_game(Rules(players=2), shuffled_deck(Rules(players=2), bytes(16)))
    asked = list(answers(slow, [[view(state, 0)] * 9]))
    assert len(asked) <= 3
    assert (asked[-1].trouble or "").startswith("no answer within")
    assert len(list(answers(fast, [[view(state, 0)] * 9]))) == 9


def test_a_puzzle_that_the_rules_forbid_is_refused(tmp_path: Path) -> None:
    """A file that is no puzzle, or has an illegal move, is refused."""
    with pytest.raises(InvalidPuzzle, match="not a puzzle"):
        parse_puzzle(b"{}")
    bad = write(tmp_path, "bad", "def choose(view):\n    if view.turn == 2: 1 / 0\n    return view.hand[0]")
    puzzle = play(Rules(players=2), bad, bad).mistakes[0].puzzle
    assert puzzle is not None
    text = encode_puzzle(puzzle).replace(b'[["', b'[["chopsticks","', 1)
    assert text != encode_puzzle(puzzle)
    with pytest.raises(InvalidPuzzle, match="decision 1 breaks the rules"):
        parse_puzzle(text).views()


def test_processor_time_counts_at_the_ladders_share(tmp_path: Path) -> None:
    """Computing for 0.04 s counts as 0.1 s."""
    text = "import time\ndef choose(view):\n    end = time.process_time() + 0.04\n"
    text += "    while time.process_time() < end: pass\n    return view.hand[0]"
    slow = write(tmp_path, "slow", text)
    result = play(Rules(players=2), slow, write(tmp_path, "first", FIRST), clock=Clock())
    assert (result.seats[0].median_millis or 0) >= 100


def run(*bots: LocalBot, games: int, processes: int = 2) -> list[LocalResult]:
    """Play games in worker processes."""
    rules = Rules(players=len(bots))
    plan = PythonPlayer(bots=bots, clock=QUICK, processes=processes)
    with plan.playing(game(rules, number) for number in range(games)) as results:
        return list(results)


def test_workers_yield_the_games_in_order(tmp_path: Path) -> None:
    """The order is kept even if every other game takes much longer."""
    text = "import random, time\nclass Bot:\n    def __init__(self): self.n = random.random()\n"
    text += (
        "    def choose(self, view):\n        time.sleep(0.02 * (self.n < 0.5))\n        return view.hand[0]"
    )
    results = run(write(tmp_path, "a", text), write(tmp_path, "b", FIRST), games=12)
    assert [result.game.number for result in results] == list(range(12))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("import os\ndef choose(view): os._exit(3)", "exit code 3"),
        ("import ctypes\ndef choose(view): ctypes.string_at(0)", "SIGSEGV"),
    ],
    ids=["exit", "crash"],
)
def test_code_that_ends_its_process_is_reported(text: str, what: str, tmp_path: Path) -> None:
    """The error has the position in which the process ended."""
    bots = (write(tmp_path, "first", FIRST), write(tmp_path, "bad", text))
    with pytest.raises(WorkerEnded, match=what) as caught:
        run(*bots, games=4)
    mistake = caught.value.mistake
    assert mistake.bot == 1
    assert mistake.puzzle is not None
    assert mistake.puzzle.views()[-1].turn == 1


def test_a_bot_that_exits_in_game_over_is_blamed(tmp_path: Path) -> None:
    """There is no position from which to reproduce it."""
    text = "import os\nclass Bot:\n  def choose(self, view): return view.hand[0]\n"
    text += "  def game_over(self, end): os._exit(3)\n"
    with pytest.raises(WorkerEnded, match="exit code 3") as caught:
        run(write(tmp_path, "bad", text), write(tmp_path, "last", FIRST), games=1)
    assert (caught.value.mistake.bot, caught.value.mistake.puzzle) == (0, None)


def test_a_bot_may_have_child_processes(tmp_path: Path) -> None:
    """As on the ladder, a bot can use `multiprocessing`."""
    text = "from multiprocessing import get_context\ndef choose(view):\n"
    text += "    child = get_context('fork').Process(target=int)\n    child.start()\n    child.join()\n"
    text += "    return view.hand[child.exitcode]\n"
    (result,) = run(write(tmp_path, "parent", text), write(tmp_path, "first", FIRST), games=1)
    assert result.mistakes == ()


def test_a_process_that_leaves_a_child_behind_is_reported(tmp_path: Path) -> None:
    """The child has a copy of the worker's connection, but doesn't keep it open."""
    text = "import os, time\nfrom multiprocessing import get_context\ndef choose(view):\n"
    text += "    get_context('fork').Process(target=time.sleep, args=(1000,)).start()\n    os._exit(3)\n"
    with pytest.raises(WorkerEnded, match="exit code 3") as caught:
        run(write(tmp_path, "parent", text), write(tmp_path, "first", FIRST), games=1)
    assert caught.value.mistake.bot == 0


@pytest.mark.parametrize("place", ["__init__", "module"])
def test_a_bot_that_exits_before_a_decision_is_blamed(tmp_path: Path, place: str) -> None:
    """It may end while the file is loaded or the game begins."""
    text = "import os\nclass Bot:\n  def __init__(self): os._exit(3)\n  def choose(self, view): ...\n"
    bad = write(tmp_path, "bad", text if place == "__init__" else "import os\nos._exit(3)\n")
    with pytest.raises(WorkerEnded, match="exit code 3") as caught:
        run(write(tmp_path, "first", FIRST), bad, games=1)
    assert (caught.value.mistake.bot, caught.value.mistake.puzzle) == (1, None)


def test_a_loop_that_catches_everything_is_stopped(tmp_path: Path) -> None:
    """The bot is taken over. If it catches each interrupt, its process is killed; the line is reported."""
    bad = write(tmp_path, "bad", DEAF)
    try:
        assert run(write(tmp_path, "first", FIRST), bad, games=1)[0].seats[1].is_taken_over
    except WorkerEnded as ended:
        mistake = ended.mistake
        assert (mistake.bot, mistake.fault) == (1, Fault.TIMEOUT)
        assert "could not be interrupted" in mistake.what
        assert 'bad.py", line 4' in mistake.trace
        assert "/arena/" not in mistake.trace


def test_a_file_that_cannot_be_loaded(tmp_path: Path) -> None:
    """The error has the reason given by the worker."""
    with pytest.raises(BotUnloadable, match="ZeroDivisionError: division by zero"):
        run(write(tmp_path, "first", FIRST), write(tmp_path, "bad", "1 / 0"), games=1)


def test_two_bots_may_have_modules_of_the_same_name(tmp_path: Path) -> None:
    """Each bot imports the module from its own folder."""
    for name, index in (("one", 0), ("two", -1)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "helper.py").write_text(f"INDEX = {index}\n")
        text = f"from helper import INDEX\ndef choose(view):\n    assert INDEX == {index}\n"
        (tmp_path / name / "bot.py").write_text(f"{text}    return view.hand[INDEX]\n")
    bots = [find_bot(str(tmp_path / name)) for name in ("one", "two")]
    assert [bot.name for bot in bots] == ["one", "two"]
    assert not play(Rules(players=2), *bots).mistakes
