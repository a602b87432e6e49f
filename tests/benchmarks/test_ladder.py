"""Tests of the ladder's simulation and its measures."""

import random
from collections import Counter

import pytest

from arena.ladder.rating import Rating
from benchmarks.ladder.measures import coverage, estimate, excess_loss, kendall, odd_results
from benchmarks.ladder.populations import SIZES, even, populations
from benchmarks.ladder.record import fit_strengths
from benchmarks.ladder.simulation import SimulatedGame, SimulatedLadder


def dice(seed: int) -> random.Random:
    """Return a random generator with this seed."""
    return random.Random(seed)  # noqa: S311 - a test's dice


def test_a_simulation_is_reproducible() -> None:
    """The same seed gives the same games, deals and ratings."""
    runs = []
    for _ in range(2):
        ladder = SimulatedLadder(range(8), even(8, dice(1)).play, 3, dice(2))
        ladder.run(25)
        runs.append((ladder.games, ladder.ratings))
    assert runs[0] == runs[1]


def test_all_bots_play_all_table_sizes_about_equally_often() -> None:
    """A simulated ladder uses the arena's matchmaking, so no bot waits long either."""
    ladder = SimulatedLadder(range(8), even(8, dice(1)).play, 2, dice(2))
    ladder.run(80)
    sizes = Counter((bot, len(game.bots)) for game in ladder.games for bot in game.bots)
    for bot in range(8):
        assert ladder.games_of(bot) == sum(sizes[bot, players] for players in SIZES)
        counts = [sizes[bot, players] for players in SIZES]
        assert max(counts) <= 2 * min(counts)
    assert max(ladder.waits) <= 12


@pytest.mark.parametrize("index", range(6))
def test_stronger_bots_finish_ahead_as_often_as_predicted(index: int) -> None:
    """Each population's games agree with its probabilities, even the weighing bots' real games."""
    population = populations(10, 1)[index]
    best = max(range(10), key=population.values.__getitem__)
    worst = min(range(10), key=population.values.__getitem__)
    chance = dice(3)
    games = 400
    for players in (2, 5):
        # At larger tables, the other bots' styles affect the difference between two bots only slightly.
        ahead = 0.0
        for _ in range(games):
            others = chance.sample([bot for bot in range(10) if bot not in {best, worst}], players - 2)
            places = population.play([best, worst, *others], chance)
            ahead += (places[0] < places[1]) + (places[0] == places[1]) / 2
        assert ahead / games == pytest.approx(population.ahead(players, best, worst), abs=0.1)


def test_the_order_is_measured() -> None:
    """Kendall's τ is 1 for the true order, -1 for its reverse, and 1/3 if one of three pairs is reversed."""
    truth = [0.1, 0.2, 0.3]
    assert kendall(dict(enumerate(truth)), truth) == 1
    assert kendall({0: 3, 1: 2, 2: 1}, truth) == -1
    assert kendall({0: 2, 1: 1, 2: 3}, truth) == pytest.approx(1 / 3)


def test_wrong_skills_with_a_low_deviation_cover_no_ranks() -> None:
    """Coverage is the share of true ranks inside the predicted ranges."""
    truth = [0.1, 0.2, 0.3, 0.4]
    right = {bot: Rating(100.0 * bot, 1.0) for bot in range(4)}
    assert coverage(right, truth) == (1.0, 0.0)
    assert coverage({bot: right[3 - bot] for bot in right}, truth) == (0.0, 0.0)
    unknown = coverage({bot: Rating(25.0, 8.0) for bot in range(4)}, truth)
    assert unknown.share == 1.0
    assert unknown.width == 3.0


def test_equal_ratings_have_excess_loss() -> None:
    """Equal ratings predict 0.5 for every pair, which is worse than the true probabilities."""
    population = even(10, dice(1))
    assert excess_loss({bot: Rating(25.0, 1.0) for bot in range(10)}, population) > 0.02


def test_strengths_are_fitted() -> None:
    """Fitting points gives the true strengths, in standard deviations of the noise."""
    chance, true = dice(5), [-6.0, -2.0, 0.0, 3.0, 5.0]
    tables = [chance.sample(range(5), 3) for _ in range(3000)]
    played = [(table, tuple(true[bot] + chance.gauss(30, 4) for bot in table)) for table in tables]
    assert fit_strengths(played, 5) == pytest.approx([each / 4 for each in true], abs=0.1)  # type: ignore[arg-type]


def test_errors_are_standard_errors_of_runs() -> None:
    """The error is the standard error of independent runs' mean."""
    assert estimate([1.0, 3.0]) == (2.0, 1.0)


def test_odd_results_are_counted() -> None:
    """If one of three bots with equal ratings always beats another, these two count as one pair."""
    ratings = {bot: Rating(25.0, 1.0) for bot in range(3)}
    even = [SimulatedGame((0, 2), places) for places in ((1, 2), (2, 1)) * 30]
    assert odd_results(even, ratings) == 0
    assert odd_results([*even, *[SimulatedGame((0, 1), (1, 2))] * 60], ratings) == 1
