"""Train a network to play Sushi Go! through self-play, using only NumPy. It beats greedy after a few minutes.

    python examples/learn.py --minutes 5 --out learner

Actor-critic: a network with one hidden layer gets an observation, and returns the probability of each action
and the expected lead in points. After each batch of games, actions with better results than expected become
more likely (Williams 1992, "Simple statistical gradient-following algorithms"). The program writes a folder
with a bot and its weights.
"""

import argparse
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from arena.env import AgainstBots, Batch, shuffled
from arena.rules import Rules
from arena.sdk.spaces import action_count, size_of

Floats = NDArray[np.floating[Any]]

_GAMES: Final = 512
_HIDDEN: Final = 128
_POINTS: Final = 10.0
"""A lead of this many points counts as 1."""

_BOT: Final = '''"""Trained by examples/learn.py."""

from pathlib import Path

import numpy as np

from arena.sdk import Move, View, run
from arena.sdk.spaces import legal_actions, move_of, observe

WEIGHTS = dict(np.load(Path(__file__).with_name("weights.npz")))


def choose(view: View) -> Move:
    """Return the network's preferred move."""
    hidden = np.maximum(observe(view) / 8 @ WEIGHTS["w1"] + WEIGHTS["b1"], 0)
    logits = hidden @ WEIGHTS["w2"] + WEIGHTS["b2"]
    return move_of(int(np.where(legal_actions(view), logits[:-1], -np.inf).argmax()))


if __name__ == "__main__":
    run(choose)
'''


_DOCKERFILE: Final = """FROM kaiten/bot-base-python
COPY bot.py weights.npz /bot/
ENTRYPOINT ["python3", "/bot/bot.py"]
"""


class Network:
    """A network whose last output is the expected lead. The other outputs are preferences for actions."""

    def __init__(self, inputs: int, actions: int, rng: np.random.Generator) -> None:
        self.weights: dict[str, Floats] = {
            "w1": rng.normal(0, inputs**-0.5, (inputs, _HIDDEN)).astype(np.float32),
            "b1": np.zeros(_HIDDEN, np.float32),
            "w2": rng.normal(0, 0.1 * _HIDDEN**-0.5, (_HIDDEN, actions + 1)).astype(np.float32),
            "b2": np.zeros(actions + 1, np.float32),
        }
        self._means = {name: np.zeros_like(each) for name, each in self.weights.items()}
        self._squares = {name: np.zeros_like(each) for name, each in self.weights.items()}
        self._steps = 0

    def forward(self, seen: Floats, legal: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
        """Return the hidden layer, the probability of each action, and the expected leads."""
        hidden = np.maximum(seen @ self.weights["w1"] + self.weights["b1"], 0)
        out = hidden @ self.weights["w2"] + self.weights["b2"]
        logits = np.where(legal, out[:, :-1], -1e9)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        return hidden, weights / weights.sum(axis=1, keepdims=True), out[:, -1]

    def learn(self, seen: Floats, legal: NDArray[np.bool_], actions: NDArray[np.intp], leads: Floats) -> None:
        """Take an Adam step: favour actions that did better than expected, and improve the expectation."""
        hidden, probabilities, expected = self.forward(seen, legal)
        better = leads - expected
        advantage = (better / (better.std() + 1e-6))[:, None]
        rows = np.arange(len(actions))
        out = np.empty((len(actions), probabilities.shape[1] + 1), np.float32)
        chosen = np.zeros_like(probabilities)
        chosen[rows, actions] = 1
        logs = np.log(probabilities + 1e-9)
        entropy = -(probabilities * logs).sum(axis=1, keepdims=True)
        out[:, :-1] = -advantage * (chosen - probabilities) + 0.01 * probabilities * (logs + entropy)
        out[:, -1] = -better
        out /= len(actions)
        back = (out @ self.weights["w2"].T) * (hidden > 0)
        gradients = {
            "w1": seen.T @ back,
            "b1": back.sum(axis=0),
            "w2": hidden.T @ out,
            "b2": out.sum(axis=0),
        }
        self._steps += 1
        for name, gradient in gradients.items():
            mean = self._means[name] = 0.9 * self._means[name] + 0.1 * gradient
            square = self._squares[name] = 0.999 * self._squares[name] + 0.001 * gradient**2
            step = mean / (1 - 0.9**self._steps) / (np.sqrt(square / (1 - 0.999**self._steps)) + 1e-8)
            self.weights[name] -= 0.003 * step


Step = tuple[Floats, NDArray[np.bool_], NDArray[np.intp], Floats]
"""Observations, legal actions, chosen actions and resulting leads: one row per seat of each game."""


def play(network: Network, rules: Rules, rng: np.random.Generator) -> list[Step]:
    """Play a batch of games in which the network plays all seats."""
    batch = Batch(rules, shuffled(rules, _GAMES, rng))
    steps = []
    scores = [np.zeros((_GAMES, rules.players), np.float32)]
    while not batch.over:
        number = batch.round
        seen = (batch.observe().reshape(_GAMES * rules.players, -1) / 8).astype(np.float32)
        legal = batch.legal_actions().reshape(len(seen), -1)
        _, probabilities, _ = network.forward(seen, legal)
        # The Gumbel-max trick: the action with the largest sum is distributed according to the
        # probabilities.
        actions = (np.log(probabilities + 1e-12) + rng.gumbel(size=probabilities.shape)).argmax(axis=1)
        batch.step(actions.reshape(_GAMES, rules.players))
        steps.append((number, seen, legal, actions))
        if batch.round != number or batch.over:
            scores.append(batch.scores[:, : rules.players].astype(np.float32))
    played: list[Step] = []
    for number, seen, legal, actions in steps:
        # A decision's lead counts only the points of its round. Puddings count in the last round.
        gained = scores[number] - scores[number - 1]
        lead = (gained - gained.mean(axis=1, keepdims=True)) * rules.players / (rules.players - 1) / _POINTS
        played.append((seen, legal, actions, lead.reshape(-1)))
    return played


def share_beaten(network: Network, opponent: str, games: int) -> tuple[float, float]:
    """Return the share of games won against a bot, ties counting half, and its standard error."""
    env = AgainstBots((opponent,))
    won = []
    for game in range(games):
        seen, _ = env.reset(seed=game)
        over, reward = False, 0.0
        while not over:
            shown = (seen["observation"][None] / 8).astype(np.float32)
            _, probabilities, _ = network.forward(shown, seen["action_mask"][None] > 0)
            seen, reward, over, _, _ = env.step(int(probabilities.argmax()))
        won.append((reward + 1) / 2)
    return float(np.mean(won)), float(np.std(won) / len(won) ** 0.5)


def main() -> None:
    """Learn, print progress, and write the bot."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=5, help="training time (default: %(default)s)")
    parser.add_argument(
        "--out", type=Path, default=Path("learner"), help="folder for the bot (default: %(default)s)"
    )
    parser.add_argument(
        "--games", type=int, default=1000, help="games for the final measurement (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="random seed for training (default: %(default)s)")
    options = parser.parse_args()
    if (options.out / "bot.py").exists():
        parser.error(f"{options.out} already contains a bot: choose another folder with --out")
    options.out.mkdir(parents=True, exist_ok=True)
    rules, rng = Rules(players=2), np.random.default_rng(options.seed)
    network = Network(size_of(rules), action_count(rules), rng)
    begun = shown = time.monotonic()
    games = 0
    while (now := time.monotonic()) < begun + 60 * options.minutes:
        if now >= shown:
            share, error = share_beaten(network, "greedy", 200)
            print(
                f"{now - begun:4.0f} s, {games:7} games: beats greedy {share:.2f} ± {2 * error:.2f}",
                flush=True,
            )
            shown = now + 30
        for step in play(network, rules, rng):
            network.learn(*step)
        games += _GAMES
    share, error = share_beaten(network, "greedy", options.games)
    print(f"{games} games: beats greedy {share:.3f} ± {2 * error:.3f}")
    np.savez_compressed(options.out / "weights.npz", allow_pickle=False, **network.weights)
    (options.out / "bot.py").write_text(_BOT)
    (options.out / "Dockerfile").write_text(_DOCKERFILE)
    print(f"Try it: arena play {options.out} greedy -n 200")


if __name__ == "__main__":
    main()
