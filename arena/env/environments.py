"""The game as PettingZoo and Gymnasium environments, built on :mod:`arena.rules`.

An observation is a dictionary: ``observation`` is the array that :mod:`arena.sdk.spaces` describes;
``action_mask`` has 1 for each legal action. The only reward comes at the end: the share of opponents that the
seat beat minus the share that beat it, from -1 to 1.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar, Final

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from gymnasium.utils.seeding import np_random
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils import parallel_to_aec

from arena.play.botfiles import FILE, bot_names, load_bot, samples
from arena.rules import (
    IllegalMove,
    Move,
    Rules,
    State,
    View,
    apply,
    check_move,
    new_game,
    seat_view,
    seats_to_move,
    shuffled_deck,
)
from arena.rules.cards import SEED_BYTES
from arena.sdk.bot import Bot, Choice, as_move, new_chooser
from arena.sdk.spaces import action_count, legal_actions, move_of, observe, size_of

Observation = dict[str, np.ndarray]
Infos = dict[str, dict[str, Any]]

_MAX_OBSERVED: Final = 1000
"""Bound on the absolute values in an observation."""


def observation_space(rules: Rules) -> Dict:
    """Return the space of a seat's observations."""
    return Dict(
        {
            "observation": Box(-_MAX_OBSERVED, _MAX_OBSERVED, (size_of(rules),), np.int16),
            "action_mask": Box(0, 1, (action_count(rules),), np.int8),
        }
    )


class SushiGo(ParallelEnv):  # type: ignore[misc]  # PettingZoo is untyped
    """All seats choose at the same time. The agents are ``seat_0``, ``seat_1`` and so on."""

    metadata: ClassVar[dict[str, Any]] = {"name": "sushi_go_v0", "render_modes": []}
    render_mode = None

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.possible_agents = [f"seat_{seat}" for seat in range(rules.players)]
        self.agents: list[str] = []
        self.observation_spaces = {agent: observation_space(rules) for agent in self.possible_agents}
        self.action_spaces = {agent: Discrete(action_count(rules)) for agent in self.possible_agents}
        self._rng, _ = np_random()
        self._state: State | None = None

    def observation_space(self, agent: str) -> Dict:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], Infos]:
        """Begin a game. With a seed, this game and the following ones are the same each time."""
        del options
        if seed is not None:
            self._rng, _ = np_random(seed)
        self._state = new_game(self.rules, shuffled_deck(self.rules, self._rng.bytes(SEED_BYTES)))
        self.agents = self.possible_agents[:]
        return self._observations(self._state), {agent: {} for agent in self.agents}

    def step(
        self, actions: dict[str, int]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Play a turn. At the end of the game, each info has the seat's ``place`` and ``total``.

        The action of a seat whose last card is played automatically is ignored. Raises ValueError, and
        changes nothing, if an action is missing or illegal.
        """
        if self._state is None or self._state.over:
            raise ValueError("no game is in progress: call reset() first")
        moves: list[Move | None] = [None] * self.rules.players
        for seat in seats_to_move(self._state):
            if (agent := self.possible_agents[seat]) not in actions:
                raise ValueError(f"no action was given for {agent}")
            moves[seat] = move_of(int(actions[agent]))
        try:
            self._state = state = apply(self._state, moves)
        except IllegalMove as error:
            raise ValueError(f"illegal action: {error}") from error
        agents, self.agents = self.agents, [] if state.over else self.agents
        return (
            self._observations(state),
            dict(zip(agents, rewards(state), strict=True)),
            dict.fromkeys(agents, state.over),
            dict.fromkeys(agents, False),
            {agent: _info(state, seat) for seat, agent in enumerate(agents)},
        )

    def _observations(self, state: State) -> dict[str, Observation]:
        return {agent: observation(state, seat) for seat, agent in enumerate(self.possible_agents)}


def parallel_env(rules: Rules) -> SushiGo:
    """Return PettingZoo's parallel environment: all seats choose at the same time."""
    return SushiGo(rules)


def env(rules: Rules) -> AECEnv:
    """Return PettingZoo's AEC environment: agents act in turn, without seeing the turn's other choices."""
    return parallel_to_aec(SushiGo(rules))


class AgainstBots(gymnasium.Env[Any, Any]):
    """One learner, in a random seat in each game, against bots.

    ``opponents`` are names of house bots, paths to Python bots, ``choose`` functions, or bot classes. Without
    ``rules``, the basic game is played. Raises ValueError if there is no such bot, or if the number of
    opponents doesn't fit the rules.
    """

    def __init__(
        self, opponents: Sequence[str | Path | Bot] = ("greedy",), rules: Rules | None = None
    ) -> None:
        self.rules = rules or Rules(players=len(opponents) + 1)
        if len(opponents) != self.rules.players - 1:
            raise ValueError(
                f"{len(opponents)} opponents given, but a table of {self.rules.players} needs "
                f"{self.rules.players - 1}"
            )
        self.observation_space = observation_space(self.rules)
        self.action_space = Discrete(action_count(self.rules))
        self._opponents = [_bot(word) for word in opponents]
        self._choosers: dict[int, Callable[[View], Choice]] = {}
        self._seat = 0
        self._state: State | None = None
        self._dice = random.getstate()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a game. The info has the learner's ``seat``.

        With a seed, this game and the following ones are the same each time, provided that the learner's
        actions are the same and that the opponents' only source of randomness is Python's ``random`` module.
        """
        super().reset(seed=seed, options=options)
        self._seat = int(self.np_random.integers(self.rules.players))
        others = [seat for seat in range(self.rules.players) if seat != self._seat]
        bots = [self._opponents[number] for number in self.np_random.permutation(len(others))]
        deck = shuffled_deck(self.rules, self.np_random.bytes(SEED_BYTES))
        self._dice = random.Random(self.np_random.bytes(SEED_BYTES)).getstate()  # noqa: S311 - not a secret
        with self._opponents_dice():
            self._choosers = {seat: new_chooser(bot).choose for seat, bot in zip(others, bots, strict=True)}
            self._state = self._play_until_asked(new_game(self.rules, deck))
        return observation(self._state, self._seat), {"seat": self._seat}

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play a turn. At the end of the game, the info has the learner's ``place`` and ``total``.

        Raises ValueError, and changes nothing, if the action is illegal or no game is in progress, or
        IllegalMove if an opponent's move is illegal.
        """
        if self._state is None or self._state.over:
            raise ValueError("no game is in progress: call reset() first")
        move = move_of(int(action))
        shown = seat_view(self._state, self._seat)
        try:
            check_move(self._seat, shown.hand, shown.table, move, control=shown.control)
        except IllegalMove as error:
            raise ValueError(f"illegal action: {error}") from error
        with self._opponents_dice():
            state = apply(self._state, self._moves(self._state, move))
            self._state = state = self._play_until_asked(state)
        seat = self._seat
        return observation(state, seat), rewards(state)[seat], state.over, False, _info(state, seat)

    @contextmanager
    def _opponents_dice(self) -> Iterator[None]:
        """Give Python's ``random`` this game's state, and restore the caller's state afterwards."""
        callers = random.getstate()
        random.setstate(self._dice)
        try:
            yield
        finally:
            self._dice = random.getstate()
            random.setstate(callers)

    def _play_until_asked(self, state: State) -> State:
        """Play the turns in which the learner's last card is played automatically."""
        while not state.over and self._seat not in seats_to_move(state):
            state = apply(state, self._moves(state, None))
        return state

    def _moves(self, state: State, own: Move | None) -> list[Move | None]:
        moves: list[Move | None] = [None] * self.rules.players
        for seat in seats_to_move(state):
            if seat == self._seat:
                moves[seat] = own
            else:
                shown = seat_view(state, seat)
                moves[seat] = as_move(self._choosers[seat](shown), shown)
        return moves


def observation(state: State, seat: int) -> Observation:
    """Return what a seat sees and may do. At the end of the game, no action is legal."""
    shown = seat_view(state, seat)
    mask = np.zeros(action_count(state.rules), dtype=np.bool_) if state.over else legal_actions(shown)
    return {"observation": observe(shown), "action_mask": mask.astype(np.int8)}


def rewards(state: State) -> list[float]:
    """Return every seat's reward: 0 until the game is over."""
    if state.result is None:
        return [0.0] * state.rules.players
    places = state.result.places
    return [
        (sum(other > place for other in places) - sum(other < place for other in places)) / (len(places) - 1)
        for place in places
    ]


def _info(state: State, seat: int) -> dict[str, Any]:
    """Return a seat's place and total at the end of the game."""
    end = state.result
    return {} if end is None else {"place": end.places[seat], "total": end.totals[seat]}


def _bot(word: str | Path | Bot) -> Bot:
    if not isinstance(word, str | Path):
        return word
    path = Path(word)
    if path.suffix:
        if not path.is_file():
            raise ValueError(f"no such file: {path}")
        return load_bot(path)
    names = bot_names(samples())
    if str(word) not in names:
        near = get_close_matches(str(word), names, 1)
        meant = f" Did you mean {near[0]}?" if near else ""
        raise ValueError(f"there is no house bot {word!r}.{meant} The house bots are {', '.join(names)}")
    return load_bot(samples() / word / FILE)
