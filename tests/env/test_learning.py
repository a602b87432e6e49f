"""Tests that the example learns and writes a bot."""

import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from arena.play.botfiles import load_bot
from arena.rules import Rules, apply, new_game, seats_to_move, shuffled_deck, view
from arena.sdk.bot import as_move, new_chooser
from arena.sdk.spaces import action_count, size_of

_EXAMPLE = Path(__file__).parents[2] / "examples" / "learn.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    """Return the example as a module."""
    spec = spec_from_file_location("learn", _EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_training_makes_it_stronger(example: ModuleType) -> None:
    """With a fixed seed, three training batches make the network beat its opponent more often."""
    rules, rng = Rules(players=2), np.random.default_rng(2)
    network = example.Network(size_of(rules), action_count(rules), rng)
    before, _ = example.share_beaten(network, "greedy", 60)
    for _ in range(3):
        for step in example.play(network, rules, rng):
            network.learn(*step)
    after, _ = example.share_beaten(network, "greedy", 60)
    assert after > before + 0.1


def test_it_writes_a_bot(tmp_path: Path) -> None:
    """The bot plays by the rules in both seats. Existing bots aren't overwritten."""

    def learn() -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, str(_EXAMPLE), "--minutes", "0", "--games", "2"]
        return subprocess.run(  # noqa: S603 - the example
            [*command, "--out", str(tmp_path / "mybot")],
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )

    done = learn()
    assert done.returncode == 0, done.stderr
    assert "arena play" in done.stdout
    again = learn()
    assert again.returncode == 2
    assert "mybot already contains a bot: choose another folder with --out" in again.stderr
    bot = load_bot(tmp_path / "mybot" / "bot.py")
    state = new_game(Rules(players=2), shuffled_deck(Rules(players=2), bytes(16)))
    while not state.over:
        views = [view(state, seat) for seat in seats_to_move(state)]
        state = apply(state, [as_move(new_chooser(bot).choose(seen), seen) for seen in views])
    assert state.result is not None
