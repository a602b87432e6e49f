"""Tests of skills derived from games."""

import math
import random

import pytest
from hypothesis import given

from arena.ladder.rating import BETAS, Rating
from arena.ladder.skills import PRIOR, update_skills, with_model_error
from tests.ladder.games import RATED_GAMES, places_of


def test_a_first_game_of_two() -> None:
    """The expected values are the Newton step of the logistic posterior for two new bots."""
    scale = BETAS[2] * math.sqrt(6) / math.pi
    variance, curve = PRIOR.deviation**2, 1 / (4 * scale**2)
    # A game says nothing about the sum of both skills. It adds its precision to that of their difference.
    difference = 1 / (1 / (2 * variance) + curve)
    winner, loser = update_skills((PRIOR, PRIOR), (1, 2))
    assert winner.mean - loser.mean == pytest.approx(difference / (2 * scale))
    assert winner.mean + loser.mean == pytest.approx(2 * PRIOR.mean)
    assert winner.deviation == loser.deviation
    assert winner.deviation**2 == pytest.approx((2 * variance + difference) / 4)


@given(RATED_GAMES)
def test_any_game_reduces_uncertainty(game: tuple[list[Rating], list[int]]) -> None:
    """However far apart the skills are, results are finite and reproducible, and no deviation grows."""
    skills, places = game
    after = update_skills(skills, places)
    assert after == update_skills(skills, places)
    for old, new in zip(skills, after, strict=True):
        assert new.deviation <= old.deviation * (1 + 1e-9)


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_seats_do_not_matter(players: int) -> None:
    """A permutation of the seats gives the same skills, even with ties."""
    dice = random.Random(players)  # noqa: S311 - a test's dice
    for _ in range(20):
        skills = [Rating(dice.gauss(25, 5), dice.uniform(0.5, 5)) for _ in range(players)]
        places = [dice.randint(1, players) for _ in range(players)]
        order = dice.sample(range(players), players)
        moved = update_skills([skills[seat] for seat in order], [places[seat] for seat in order])
        after = update_skills(skills, places)
        for seat, skill in zip(order, moved, strict=True):
            assert skill.mean == pytest.approx(after[seat].mean)
            assert skill.deviation == pytest.approx(after[seat].deviation)


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_better_places_mean_more_skill(players: int) -> None:
    """Among equals, better places give higher means. If all tie, no mean changes."""
    means = [skill.mean for skill in update_skills([PRIOR] * players, range(1, players + 1))]
    assert means == sorted(means, reverse=True)
    assert len(set(means)) == players
    assert [skill.mean for skill in update_skills([PRIOR] * players, [1] * players)] == pytest.approx(
        [25] * players
    )


@pytest.mark.parametrize("places", [(1,), (1, 2, 3), ()])
def test_other_numbers_of_places_are_refused(places: tuple[int, ...]) -> None:
    """There must be exactly one place per seat."""
    with pytest.raises(ValueError, match="2 skills"):
        update_skills((PRIOR, PRIOR), places)


def test_stated_deviations_have_a_minimum() -> None:
    """A known skill is stated with a deviation of 0.5, an uncertain one nearly unchanged."""
    assert with_model_error(Rating(31.0, 1e-6)).deviation == pytest.approx(0.5)
    assert with_model_error(PRIOR).deviation == pytest.approx(PRIOR.deviation, rel=0.01)


def test_deviations_match_the_errors() -> None:
    """In games between known strengths, the means' errors are as large as the deviations say."""
    dice = random.Random(7)  # noqa: S311 - a test's dice
    bots = 60
    true = [dice.gauss(PRIOR.mean, PRIOR.deviation) for _ in range(bots)]
    skills = [PRIOR] * bots
    for _ in range(4000):
        table = dice.sample(range(bots), dice.randint(2, 5))
        results = [dice.gauss(true[bot], BETAS[len(table)]) for bot in table]
        learned = update_skills([skills[bot] for bot in table], places_of(results))
        for bot, skill in zip(table, learned, strict=True):
            skills[bot] = skill
    errors = [(skill.mean - mean) / skill.deviation for skill, mean in zip(skills, true, strict=True)]
    assert 0.8 < math.sqrt(math.fsum(error**2 for error in errors) / bots) < 1.2
