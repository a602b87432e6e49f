"""The moves that house bots would have played."""

import random
from pathlib import Path

from arena.play.analysis.analyst import analyse, house_bots, house_moves
from arena.play.botfiles import samples
from arena.play.replay.verify import decisions
from arena.rules import Move, Rules, View
from tests.play.replay.games import replay_of

RULES = Rules(players=2, soy_sauce=True)


def test_house_bots_play_the_recorded_decisions() -> None:
    """The same decisions and seed give the same moves, whatever the state of Python's random generator."""
    game = replay_of(RULES)
    bots = {name: bot for name, bot in house_bots(samples()).items() if name != "mcts"}
    assert {"expected", "greedy", "rollout", "spoiler"} <= set(bots)
    assert "random" not in bots
    made = decisions(game)[:9]
    moves = house_moves(bots, made, 2, 0)
    random.seed(0)
    assert house_moves(bots, made, 2, 0) == moves
    assert [set(each) for each in moves] == [set(bots)] * len(made)
    analysis = analyse(game, playouts=2, bots={"greedy": bots["greedy"]})
    assert all(set(each.house) == {"greedy"} for each in analysis.decisions)


def test_decisions_that_a_bot_cannot_make_are_left_out() -> None:
    """Decisions with a bot's errors or illegal moves are left out. Python's random state is restored."""

    def fails(view: View) -> Move:
        if view.turn > 1:
            raise RuntimeError
        return Move(())

    made = decisions(replay_of(RULES))
    before = random.getstate()
    moves = house_moves({"broken": fails, "greedy": house_bots(samples())["greedy"]}, made, 5, 0)
    assert random.getstate() == before
    assert [set(each) for each in moves] == [{"greedy"}] * len(made)


def test_a_bot_that_cannot_be_loaded_is_left_out(tmp_path: Path) -> None:
    """A bot that can't be loaded doesn't affect the others. A folder without bots is not an error."""
    assert house_bots(tmp_path) == {}
    for name, source in {"broken": "def choose(", "fine": "def choose(view): return view.hand[0]"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.py").write_text(source)
    assert set(house_bots(tmp_path)) == {"fine"}
