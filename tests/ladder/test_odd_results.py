"""Tests of the report on pairs of bots whose results contradict their ratings."""

import random
from collections.abc import Callable

import pytest

from arena.ladder.calibration import PredictedGame
from arena.ladder.odd_results import CHANCE, odd_pairs
from arena.ladder.rating import BETAS, Rating
from tests.ladder.games import places_of, unchanged
from tests.soak import many

BOTS = 12


def season(
    games: int, seed: int, results: Callable[[list[int], list[float]], list[float]]
) -> list[PredictedGame]:
    """Play games of correctly rated bots at random tables. ``results`` may change each game's results."""
    dice = random.Random(seed)  # noqa: S311 - a test's dice
    skills = [dice.gauss(25, 5) for _ in range(BOTS)]
    found = []
    for _ in range(games):
        table = dice.sample(range(BOTS), dice.randint(2, 5))
        made = results(table, [dice.gauss(skills[bot], BETAS[len(table)]) for bot in table])
        found.append(unchanged(table, [Rating(skills[bot], 1.0) for bot in table], places_of(made)))
    return found


def honest(_: list[int], made: list[float]) -> list[float]:
    """Return the results unchanged."""
    return made


def thrown(table: list[int], made: list[float]) -> list[float]:
    """Return the results with bot 3 last in each game with bot 7."""
    return [min(made) - 1 if bot == 3 and 7 in table else own for bot, own in zip(table, made, strict=True)]


@pytest.mark.parametrize("seed", range(many(2, 5)))
def test_honest_bots_are_not_reported(seed: int) -> None:
    """None of the 66 pairs exceeds a limit that chance exceeds in one of a hundred ladders."""
    assert odd_pairs(season(2000, seed, honest), {bot: bot for bot in range(BOTS)}) == ()


@pytest.fixture(scope="module")
def thrown_season() -> list[PredictedGame]:
    """Return the games of a season in which bot 3 loses on purpose to bot 7."""
    return season(2000, 1, thrown)


def test_thrown_games_are_reported(thrown_season: list[PredictedGame]) -> None:
    """The pair is reported first, with the bot that gained, its gain and the probability."""
    first, *_ = odd_pairs(thrown_season, {bot: bot for bot in range(BOTS)})
    assert (first.ahead, first.behind) == (7, 3)
    assert first.observed == 1.0
    assert 0.1 < first.expected < 0.9
    assert first.chance < CHANCE / 1000


def test_the_games_of_an_authors_bots_are_added_up(thrown_season: list[PredictedGame]) -> None:
    """Versions without an author in the mapping, and pairs of the same author, are left out."""
    first, *_ = odd_pairs(thrown_season, {3: "ann", 4: "ann", 7: "ben", 8: "ben"})
    assert (first.ahead, first.behind) == ("ben", "ann")
    assert odd_pairs(thrown_season, {3: "ann", 7: "ann"}) == ()
    assert odd_pairs(thrown_season, {3: "ann"}) == ()


def test_a_few_games_are_too_few() -> None:
    """Nineteen games are too few, even if every one contradicts the ratings."""
    names = {bot: bot for bot in range(BOTS)}
    lost = unchanged((3, 7), (Rating(35, 1), Rating(15, 1)), (2, 1))
    assert odd_pairs([lost] * 19, names) == ()
    (found,) = odd_pairs([lost] * 20, names)
    assert (found.ahead, found.behind, found.games) == (7, 3, 20)
