"""Populations of bots with known strengths.

The weighers play real games; their strengths were fitted once (``recorded.json``). The other populations are
synthetic: a bot's result in a game is its strength plus noise, and the best result wins. The noise is normal,
like that of points in real games (their kurtosis is 3.0 to 3.1).

Strengths are in standard deviations of that noise, for each number of players.
"""

import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Final

from benchmarks.ladder.weighers import draw_weigher, play_weighers

SIZES: Final = (2, 3, 4, 5)

RECORDED: Final = Path(__file__).with_name("recorded.json")

WEIGHERS_SEED: Final = 1

_SPREAD: Final = 0.54
"""Standard deviation of the weighers' strengths in two-player games."""

_EVEN: Final = {2: 1.0, 3: 0.97, 4: 0.92, 5: 0.86}
"""Spread of strengths by number of players, like that of the weighers."""

_STEEP: Final = {2: 1.0, 3: 1 / 1.6, 4: 1 / 2.0, 5: 1 / 2.25}
"""Spread of strengths that matches the noise assumed by the ratings (β), which was fitted to sample bots."""

_TIE: Final = 0.03
"""Results that differ by less than this share a place, about as often as points and puddings are tied."""

Skills = Mapping[int, Sequence[float]]
"""Strengths of all bots, by number of players."""


@dataclass(frozen=True)
class Population:
    """Bots, numbered from 0, and how they play."""

    name: str
    skills: Skills
    # A bot's advantage over another in addition to its strength, for styles that beat each other cyclically.
    edge: Callable[[int, int], float]
    # Plays a game of bots, given by seat; returns their places.
    play: Callable[[Sequence[int], random.Random], tuple[int, ...]]

    def __len__(self) -> int:
        return len(self.skills[SIZES[0]])

    def ahead(self, players: int, bot: int, other: int) -> float:
        """Return the true probability that a bot finishes a game ahead of another, ignoring ties."""
        skills = self.skills[players]
        gap = skills[bot] - skills[other] + 2 * self.edge(bot, other) / (players - 1)
        return math.erfc(-gap / 2) / 2

    @cached_property
    def values(self) -> tuple[float, ...]:
        """Share of random opponents that each bot beats, if all table sizes are equally frequent."""
        bots = range(len(self))
        return tuple(
            math.fsum(self.ahead(players, bot, other) for players in SIZES for other in bots if other != bot)
            / (len(SIZES) * (len(self) - 1))
            for bot in bots
        )


def populations(count: int, seed: int) -> tuple[Population, ...]:
    """Return the six populations of ``count`` bots. The weighers are always the same."""
    dice = random.Random(f"populations {seed}")  # noqa: S311 - must be reproducible
    return (
        weighers(count),
        even(count, dice),
        _synthetic("families", _scale(_families(count, dice), _EVEN)),
        _synthetic("skewed", _scale([dice.expovariate(1) for _ in range(count)], _STEEP)),
        _synthetic("specialists", _specialists(count, dice)),
        _circles(count, dice),
    )


def even(count: int, dice: random.Random) -> Population:
    """Return bots with normally distributed strengths."""
    return _synthetic("even", _scale(_draw_normal(count, dice), _EVEN))


def weighers(count: int) -> Population:
    """Return the bots that play real games.

    Raises ValueError for more bots than were recorded.
    """
    recorded = json.loads(RECORDED.read_text())
    skills = {players: recorded["strengths"][str(players)][:count] for players in SIZES}
    if len(skills[SIZES[0]]) < count:
        raise ValueError(f"{RECORDED.name} has {len(skills[SIZES[0]])} weighers, not {count}: ask for fewer")
    dice = random.Random(WEIGHERS_SEED)  # noqa: S311 - must be reproducible
    bots = [draw_weigher(dice) for _ in range(count)]

    def play(table: Sequence[int], dice: random.Random) -> tuple[int, ...]:
        result = play_weighers([bots[bot] for bot in table], dice).result
        return () if result is None else result.places

    return Population("weighers", skills, _no_edge, play)


def _synthetic(name: str, skills: Skills, edge: Callable[[int, int], float] | None = None) -> Population:
    def play(table: Sequence[int], dice: random.Random) -> tuple[int, ...]:
        own = skills[len(table)]
        results = [own[bot] + dice.gauss(0, 1) for bot in table]
        if edge is not None:
            for seat, bot in enumerate(table):
                results[seat] += sum(edge(bot, other) for other in table if other != bot) / (len(table) - 1)
        return _places(results)

    return Population(name, skills, edge or _no_edge, play)


def _places(results: Sequence[float]) -> tuple[int, ...]:
    """Rank results, the best first. A result within ``_TIE`` of the next better one shares its place."""
    order = sorted(range(len(results)), key=lambda seat: -results[seat])
    places = [1] * len(results)
    for index, (before, seat) in enumerate(pairwise(order), start=2):
        places[seat] = places[before] if results[before] - results[seat] < _TIE else index
    return tuple(places)


def _no_edge(_bot: int, _other: int) -> float:
    return 0.0


def _scale(raw: Sequence[float], spread: Mapping[int, float]) -> Skills:
    mean = math.fsum(raw) / len(raw)
    deviation = math.sqrt(math.fsum((each - mean) ** 2 for each in raw) / len(raw))
    return {
        players: [_SPREAD * factor * (each - mean) / deviation for each in raw]
        for players, factor in spread.items()
    }


def _draw_normal(count: int, dice: random.Random) -> list[float]:
    return [dice.gauss(0, 1) for _ in range(count)]


def _families(count: int, dice: random.Random) -> list[float]:
    """Return strengths of families of five bots that are nearly equal."""
    centres = _draw_normal((count + 4) // 5, dice)
    return [centres[bot // 5] + dice.gauss(0, 0.1) for bot in range(count)]


def _specialists(count: int, dice: random.Random) -> Skills:
    """Return strengths. Those for two players have a correlation of 0.8 with the others, as with weighers."""
    common, duels = _draw_normal(count, dice), _draw_normal(count, dice)
    raw_strengths = {
        2: [0.8 * base + 0.6 * own for base, own in zip(common, duels, strict=True)],
        **{
            players: [0.98 * base + 0.2 * dice.gauss(0, 1) for base in common]
            for players in SIZES
            if players > SIZES[0]
        },
    }
    return {players: _scale(raw, _EVEN)[players] for players, raw in raw_strengths.items()}


def _circles(count: int, dice: random.Random) -> Population:
    """Return bots on a circle of styles. Each bot has an advantage over the styles behind its own."""
    styles = [dice.uniform(0, math.tau) for _ in range(count)]
    skills = _scale(_draw_normal(count, dice), _STEEP)
    return _synthetic("circles", skills, lambda bot, other: 0.2 * math.sin(styles[bot] - styles[other]))
