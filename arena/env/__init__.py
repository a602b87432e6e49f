"""Sushi Go! for reinforcement learning: PettingZoo, Gymnasium, and thousands of games in parallel in NumPy.

    env = AgainstBots(("greedy",))                  # Gymnasium: one learner against bots
    env = parallel_env(Rules(players=3))            # PettingZoo: all seats learn
    batch = Batch(rules, shuffled(rules, 4096, rng))  # NumPy: 4096 games in parallel

All three encode decisions and actions in the format of :mod:`arena.sdk.spaces`, which bots can use too.
This package requires the extra ``env``.
"""

from arena.env.batch import Batch, shuffled
from arena.env.environments import AgainstBots, SushiGo, env, parallel_env

__all__ = [
    "AgainstBots",
    "Batch",
    "SushiGo",
    "env",
    "parallel_env",
    "shuffled",
]
