"""Tests of fitting β to games."""

import math
import random

import pytest

from arena.ladder.calibration import PredictedGame, fit_betas
from arena.ladder.rating import BETAS, Rating
from tests.ladder.games import places_of, unchanged


def played(players: int, beta: float, games: int) -> list[PredictedGame]:
    """Play games between bots with known ratings. Performances vary by this β around the true skills."""
    dice = random.Random(players)  # noqa: S311 - a test's dice
    found = []
    for _ in range(games):
        ratings = tuple(Rating(dice.gauss(25, 8), 1.5) for _ in range(players))
        results = [dice.gauss(rating.mean, math.hypot(rating.deviation, beta)) for rating in ratings]
        found.append(unchanged(range(players), ratings, places_of(results)))
    return found


@pytest.mark.parametrize("players", [2, 5])
def test_the_noise_of_games_is_found(players: int) -> None:
    """The fitted β predicts better than the one in use, by several standard errors."""
    (fit,) = fit_betas(played(players, 5.0, 2000))
    assert (fit.players, fit.games, fit.beta) == (players, 2000, BETAS[players])
    assert fit.fitted == pytest.approx(5.0, rel=0.15)
    assert fit.loss - fit.fitted_loss > 3 * fit.error > 0


def test_a_beta_that_fits_is_kept() -> None:
    """If β already fits, another one can improve the loss only by chance."""
    (fit,) = fit_betas(played(3, BETAS[3], 2000))
    assert fit.fitted == pytest.approx(BETAS[3], rel=0.2)
    assert 0 <= fit.loss - fit.fitted_loss < 3 * fit.error + 1e-6


def test_too_few_games_and_ties_fit_nothing() -> None:
    """Fewer than a hundred games at a table size are too few. Ties don't count."""
    tie = unchanged((0, 1), (Rating(25.0, 1.0),) * 2, (1, 1))
    assert fit_betas([*played(4, 5.0, 99), *[tie] * 200]) == ()
    assert [fit.games for fit in fit_betas([*played(4, 5.0, 100), *[tie] * 200])] == [100]


def test_impossible_upsets_are_finite() -> None:
    """A result that the ratings all but exclude has a large but finite loss."""
    upset = unchanged((0, 1), (Rating(-400.0, 0.1), Rating(400.0, 0.1)), (1, 2))
    (fit,) = fit_betas([upset, *played(2, 5.0, 200)])
    assert math.isfinite(fit.loss)
