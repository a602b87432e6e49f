"""Tests that the environments work with PettingZoo and Gymnasium and follow the rules."""

import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, SupportsFloat

import numpy as np
import pytest
from gymnasium.wrappers import PassiveEnvChecker
from pettingzoo.test import api_test, parallel_api_test

from arena.env import AgainstBots, env, parallel_env
from arena.rules import Card, IllegalMove, Rules, View
from arena.sdk.bot import Choice

_RULES = [
    Rules(players=2),
    Rules(players=5, pass_both_ways=True, soy_sauce=True),
    Rules(players=2, dummy=True),
]


@pytest.mark.parametrize("rules", _RULES, ids=str)
def test_pettingzoos_own_tests_pass(rules: Rules) -> None:
    """PettingZoo's tests of both kinds of environments pass."""
    parallel_api_test(parallel_env(rules), num_cycles=60)
    with warnings.catch_warnings():
        # The warnings are advice on naming environments with raw observations.
        warnings.simplefilter("ignore")
        api_test(env(rules), num_cycles=120)


def test_a_seed_gives_the_same_games() -> None:
    """Two environments with the same seed play the same first and second game, which differ."""
    one, other = parallel_env(_RULES[1]), parallel_env(_RULES[1])
    games = []
    for seed in (8, None):
        (seen, _), (same, _) = one.reset(seed=seed), other.reset(seed=seed)
        games.append(seen["seat_0"]["observation"].tobytes())
        while one.agents:
            assert all(
                (seen[agent]["observation"] == same[agent]["observation"]).all() for agent in one.agents
            )
            actions = {agent: int(seen[agent]["action_mask"].argmax()) for agent in one.agents}
            seen, rewards, *_ = one.step(actions)
            same, same_rewards, *_ = other.step(actions)
            assert rewards == same_rewards
    assert games[0] != games[1]


def test_agents_are_rewarded_by_places() -> None:
    """The rewards sum to zero, and a better place has a higher reward."""
    game = parallel_env(Rules(players=3))
    seen, _ = game.reset(seed=5)
    while game.agents:
        actions = {agent: int(seen[agent]["action_mask"].argmax()) for agent in game.agents}
        seen, rewards, over, cut, infos = game.step(actions)
        assert not any(cut.values())
    assert all(over.values())
    assert sum(rewards.values()) == pytest.approx(0)
    by_place = sorted(infos, key=lambda agent: infos[agent]["place"])
    assert [rewards[agent] for agent in by_place] == sorted(rewards.values(), reverse=True)
    with pytest.raises(ValueError, match="call reset"):
        game.step({})


def test_the_error_says_what_is_wrong_with_an_action() -> None:
    """Missing, illegal and unknown actions are refused, and the game is unchanged."""
    game = parallel_env(Rules(players=2))
    seen, _ = game.reset(seed=5)
    legal = {agent: int(seen[agent]["action_mask"].argmax()) for agent in game.agents}
    with pytest.raises(ValueError, match="no action was given for seat_1"):
        game.step({"seat_0": legal["seat_0"]})
    with pytest.raises(ValueError, match="illegal action"):
        game.step(legal | {"seat_1": int(seen["seat_1"]["action_mask"].argmin())})
    with pytest.raises(ValueError, match="is not an action"):
        game.step(legal | {"seat_1": 100_000})
    assert game.step(legal)[0]["seat_0"]["observation"][1] == 9  # turns left


def _play(game: AgainstBots, choose: Callable[[Any], int]) -> tuple[list[bytes], float]:
    checked = PassiveEnvChecker(game)
    seen, _ = checked.reset(seed=11)
    shown: list[bytes] = []
    reward: SupportsFloat = 0.0
    over = False
    while not over:
        seen, reward, over, cut, info = checked.step(choose(seen))
        assert not cut
        assert over == ("place" in info)
        shown.append(seen["observation"].tobytes())
    return shown, float(reward)


@pytest.mark.parametrize("rules", _RULES, ids=str)
def test_a_learner_plays_against_house_bots(rules: Rules) -> None:
    """The same seed and actions give the same game, even if opponents play at random.

    Gymnasium's checker reports nothing, and the caller's own random state is unchanged.
    """

    def first_legal(seen: Any) -> int:  # noqa: ANN401 - as in Gymnasium
        return int(np.flatnonzero(seen["action_mask"])[0])

    opponents = ["random", *["greedy"] * (rules.players - 2)]
    random.seed(1)
    own = random.getstate()
    once, reward = _play(AgainstBots(opponents, rules), first_legal)
    assert random.getstate() == own
    random.seed(2)
    again, same = _play(AgainstBots(opponents, rules), first_legal)
    assert once == again
    assert reward == same
    assert -1 <= reward <= 1


def test_opponents_may_be_functions_and_files(tmp_path: Path) -> None:
    """Errors about other opponents say what is wrong, and suggest similar names."""

    def first(view: View) -> Choice:
        return view.legal_moves()[0]

    file = tmp_path / "mine.py"
    file.write_text("def choose(view):\n    return view.legal_moves()[-1]\n")
    shown, _ = _play(AgainstBots((first, file)), lambda seen: int(seen["action_mask"].argmax()))
    assert len(shown) == 3 * 8
    with pytest.raises(ValueError, match=r"no house bot 'gredy'\. Did you mean greedy\?"):
        AgainstBots(("gredy",))
    with pytest.raises(ValueError, match="no such file: "):
        AgainstBots((tmp_path / "none.py",))
    with pytest.raises(ValueError, match="1 opponents given, but a table of 3 needs 2"):
        AgainstBots(("greedy",), Rules(players=3))
    game = AgainstBots()
    with pytest.raises(ValueError, match="call reset"):
        game.step(0)


def test_an_illegal_action_does_not_reach_the_opponents() -> None:
    """Opponents see only legal turns. An opponent's illegal move isn't reported as the learner's."""
    asked: list[View] = []

    class Remembering:
        def choose(self, view: View) -> Card:
            asked.append(view)
            return view.hand[0]

    game = AgainstBots((Remembering,))
    seen, _ = game.reset(seed=1)
    with pytest.raises(ValueError, match="illegal action"):
        game.step(int(seen["action_mask"].argmin()))
    assert not asked
    game = AgainstBots((lambda view: next(card for card in Card if card not in view.hand),))
    seen, _ = game.reset(seed=1)
    with pytest.raises(IllegalMove, match=r"^seat 1: "):
        game.step(int(seen["action_mask"].argmax()))
